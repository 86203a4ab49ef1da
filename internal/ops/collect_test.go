package ops_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/ops"
)

// One list holds faults of names and faults of operators, at most one for each place.
func TestAllKindsOfFaultsAreCollected(t *testing.T) {
	const text = `program(1.3)
{
    func main<ios18>(tensor<fp16, [2]> x) {
        tensor<fp16, [2]> a = relu(x = nowhere);
        tensor<fp16, [3]> b = relu(x = x);
        tensor<fp16, [2]> c = frobnicate(x = x);
        tensor<fp16, [2]> d = add(x = x);
        tensor<fp16, [2]> d = relu(x = x);
        tensor<fp16, [2]> e = add(x = x, x = x, y = x);
    } -> (d);
}`
	p, err := mil.Parse("m.mil", []byte(text))
	require.True(t, mil.OnlyNames(err), "%v", err)
	_, err = ops.Analyze("m.mil", p, "", nil)
	var list mil.ErrorList
	require.ErrorAs(t, err, &list)
	var lines []int
	for _, e := range list {
		require.Equal(t, "m.mil", e.File)
		lines = append(lines, e.Pos.Line)
	}
	require.Equal(t, []int{4, 5, 6, 7, 8, 9}, lines, "%v", err)
}

// A fault of any function refuses the program. Notes are only on the chosen function.
func TestOtherFunctionsAreChecked(t *testing.T) {
	const text = `program(1.3)
{
    func good<ios18>(tensor<fp16, [2]> x) {
        tensor<fp16, [2]> y = relu(x = x);
    } -> (y);
    func bad<ios18>(tensor<fp16, [2]> x) {
        tensor<fp16, [2]> y = frobnicate(x = x);
    } -> (y);
}`
	p, err := mil.Parse("m.mil", []byte(text))
	require.NoError(t, err)
	for _, name := range []string{"", "good", "bad"} {
		_, err = ops.Analyze("m.mil", p, name, nil)
		require.ErrorContains(t, err, "m.mil:7:31: unknown operator frobnicate")
	}
	_, err = ops.Analyze("m.mil", p, "other", nil)
	require.ErrorContains(t, err, `no function called "other"; choose one of good, bad`)
}

// A program made in Go has no positions. Its faults of names are still reported once.
func TestBuiltProgramsNameAFaultOnce(t *testing.T) {
	half := mil.TensorOf(mil.FP16, 2)
	p := &mil.Program{Version: "1.3", Funcs: []*mil.Function{{
		Name: "main", Opset: "ios18",
		Params: []mil.Var{{Name: "x", Type: half}},
		Body: []*mil.Op{{Kind: "relu", Results: []mil.Var{{Name: "y", Type: half}},
			Args: []mil.Arg{{Name: "x", Value: mil.Ref{Name: "nowhere"}}}}},
		Results: []mil.Ref{{Name: "y"}, {Name: "y"}, {Name: "z"}},
	}}}
	_, err := ops.Analyze("", p, "", nil)
	var list mil.ErrorList
	require.ErrorAs(t, err, &list)
	require.Len(t, list, 3, "%v", err)
}
