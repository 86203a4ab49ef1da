package ops_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/ops"
)

// What a faulty statement makes is not computed where a shape needs it.
func TestShapesOfFaultyStatements(t *testing.T) {
	for _, made := range []string{
		"gather(x = s, axis = int32(0))", "gather(x = s, axis = int32(3), indices = int32(0))", "concat(values = s, axis = int32(0))",
		"concat(values = (s, s), axis = int32(7))", "concat(axis = int32(0))", "split(x = s, num_splits = int32(2), axis = int32(4))",
		"reverse(x = s, axes = tensor<int32, [1]>([5]))", "stack(axis = int32(0))", "transpose(x = s)", "tile(x = s)", "add(x = s)",
		"select(a = s, b = s)", "cast(x = s)", "squeeze(x = s, axes = tensor<int32, [1]>([0]))", "expand_dims(x = s)",
		"slice_by_size(x = s, begin = tensor<int32, [1]>([4]), size = tensor<int32, [1]>([9]))", "slice_by_index(x = s)",
		"reduce_sum(x = s, axes = tensor<int32, [1]>([6]))", "fill(value = int32(1))", "range_1d(start = int32(0))", "reshape(x = s)",
		"cast(x = s, dtype = string(\"nothing\"))", "concat(values = (s, s), axis = int32(0))",
	} {
		p, err := mil.Parse("p.mil", []byte("program(1.3)\n{\nfunc main<ios18>(tensor<fp32, [4, 2]> x) {\n"+
			"tensor<int32, [2]> s = shape(x = x);\ntensor<int32, [2]> n = "+made+";\n"+
			"tensor<fp32, [4, 2]> y = reshape(shape = n, x = x);\n} -> (y);\n}\n"))
		require.NoError(t, err, made)
		all := ops.Survey("p.mil", p)
		require.NotEmpty(t, all[0].Faults, made)
		_, err = ops.Analyze("p.mil", p, "", nil)
		require.Error(t, err, made)
	}
}
