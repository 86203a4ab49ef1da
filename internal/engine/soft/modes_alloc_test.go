package soft_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/internal/numerics"
)

// TestModesAllocateNothing: an evaluation in the mode of a chip allocates no more than one in reference does.
func TestModesAllocateNothing(t *testing.T) {
	skipEmulated(t, "allocations do")
	const shape = "tensor<fp16, [64, 80]>"
	one := func(call string) string {
		return "program(1.3)\n{ func main<ios18>(" + shape + " x) { " + shape + " y = " + call +
			"[name = string(\"y\")]; } -> (y); }"
	}
	texts := map[string]string{
		"add": one("add(x = x, y = x)"), "softmax": one("softmax(x = x, axis = int32(1))"),
		"softmax aside": one("softmax(x = x, axis = int32(0))"),
		"layer_norm":    one("layer_norm(x = x, axes = tensor<int32, [1]>([1]), epsilon = fp16(0.001))"),
		"relu":          one("relu(x = x)"),
		"matmul": "program(1.3)\n{ func main<ios18>(" + shape +
			" x) { tensor<fp16, [64, 64]> y = matmul(x = x, y = x, " +
			"transpose_x = bool(false), transpose_y = bool(true))[name = string(\"y\")]; } -> (y); }",
		"attention": "program(1.3)\n{ func main<ios18>(tensor<fp16, [1, 64, 80]> x) { tensor<fp16, [1, 64, 80]> y = " +
			"scaled_dot_product_attention(query = x, key = x, value = x)[name = string(\"y\")]; } -> (y); }",
		"rnn": "program(1.3)\n{ func main<ios18>(tensor<fp16, [2, 4, 5]> a, tensor<fp16, [4, 6]> b, " +
			"tensor<fp16, [6, 5]> c, tensor<fp16, [6, 6]> d) { tensor<fp16, [2, 4, 6]> y, tensor<fp16, [4, 6]> z = rnn(" +
			"x = a, initial_h = b, weight_ih = c, weight_hh = d, output_sequence = bool(true))[name = " +
			"string(\"y\")]; } -> (y); }",
		"reduce": "program(1.3)\n{ func main<ios18>(" + shape + " x) { tensor<fp16, [64]> y = reduce_sum(x = x, " +
			"axes = tensor<int32, [1]>([1]), keep_dims = bool(false))[name = string(\"y\")]; } -> (y); }",
	}
	for name, text := range texts {
		var of [2]float64
		for k, m := range []numerics.Mode{numerics.Reference, numerics.M1} {
			d, err := ane.Open(soft.New(soft.Numerics(m), soft.Workers(1)), "")
			require.NoError(t, err)
			model, err := d.Compile(t.Context(), ane.Source{Text: []byte(text)})
			require.NoError(t, err, name)
			r, err := model.NewRequest(t.Context())
			require.NoError(t, err)
			evaluate := func() {
				_, err := r.Evaluate(t.Context())
				require.NoError(t, err)
			}
			evaluate()
			of[k] = testing.AllocsPerRun(20, evaluate)
			require.NoError(t, r.Close())
			require.NoError(t, model.Close(t.Context()))
			require.NoError(t, d.Close())
		}
		require.LessOrEqual(t, of[1], of[0], name)
	}
}
