package ops_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/ops"
)

func TestInferGivesTheResultsOfOneStatement(t *testing.T) {
	x, err := ops.Parameter(mil.V(mil.TensorOf(mil.FP16, 1, 64, 1, 32), "x"))
	require.NoError(t, err)
	axis, _, err := ops.Constant(mil.Int32Scalar(1))
	require.NoError(t, err)
	count, _, err := ops.Constant(mil.Int32Scalar(2))
	require.NoError(t, err)
	out, notes, err := ops.Lookup("split").Infer(one("x", x), one("axis", axis), one("num_splits", count))
	require.NoError(t, err)
	require.Empty(t, notes)
	require.Len(t, out, 2)
	require.Equal(t, mil.TensorOf(mil.FP16, 1, 32, 1, 32), out[1].Type())

	_, notes, err = ops.Lookup("concat").Infer(ops.Operand{Name: "values", Values: out, List: true}, one("axis", axis))
	require.NoError(t, err)
	require.Contains(t, notes[0], "concat: in memory an M3 and an M4 refuse concat without interleave")
}

func TestInferReportsEveryFault(t *testing.T) {
	x, err := ops.Parameter(mil.V(mil.TensorOf(mil.FP16, 4), "x"))
	require.NoError(t, err)
	for _, c := range []struct {
		kind     string
		operands []ops.Operand
		want     string
	}{
		{"softmax", []ops.Operand{one("x", x), one("axes", x)},
			"softmax: there is no argument axes; did you mean axis"},
		{"relu", nil, "relu: argument x is missing"},
		{"relu", []ops.Operand{{Name: "x"}}, "relu: x: empty list"},
		{"relu", []ops.Operand{{Name: "x", Values: []*ops.Value{x}, List: true}}, "relu: x: takes a single value"},
		{"split", []ops.Operand{one("x", x)}, "split: num_splits and split_sizes are both missing for x[4]; give " +
			"num_splits"},
		{"softmax", []ops.Operand{one("x", x), one("axis", x)}, "softmax: axis: has to be a constant"},
	} {
		out, _, err := ops.Lookup(c.kind).Infer(c.operands...)
		require.ErrorContains(t, err, c.want)
		require.Nil(t, out)
		var list mil.ErrorList
		require.ErrorAs(t, err, &list)
	}
}

func TestValuesOfParametersAndConstants(t *testing.T) {
	_, err := ops.Parameter(mil.V(mil.TensorOf(mil.FP16, 4, 0), "x"))
	require.ErrorContains(t, err, "x: shape [4 0] is empty")
	_, _, err = ops.Constant(nil)
	require.ErrorContains(t, err, "no value")
	_, _, err = ops.Constant(mil.BlobValue(mil.TensorOf(mil.String, 4), "@model_path/w.bin", 64))
	require.ErrorContains(t, err, "weights of type string")
	w, _, err := ops.Constant(mil.BlobValue(mil.TensorOf(mil.FP16, 4), "@model_path/w.bin", 64))
	require.NoError(t, err)
	require.False(t, w.Const())
	_, notes, err := ops.Constant(mil.FP16Scalar(1e9))
	require.NoError(t, err)
	require.Contains(t, notes[0], "becomes infinite")
}

func one(name string, v *ops.Value) ops.Operand {
	return ops.Operand{Name: name, Values: []*ops.Value{v}}
}
