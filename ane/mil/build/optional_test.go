package build_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil/build"
)

// An option of another operator is a fault that tells what the operator takes.
func TestOptionOfAnotherOperator(t *testing.T) {
	for want, write := range map[string]func(f *build.Func, x build.Value) build.Value{
		"max_pool: there is no argument groups; write max_pool(x, kernel_sizes, strides?": func(f *build.Func,
			x build.Value) build.Value {
			return f.MaxPool(x, []int{2, 2}, build.Groups(2))
		},
		"reduce_sum: there is no argument ceil_mode; write reduce_sum(x, axes?, keep_dims?)": func(f *build.Func,
			x build.Value) build.Value {
			return f.ReduceSum(x, []int{1}, build.CeilMode(true))
		},
		"layer_norm: there is no argument constant_val; write layer_norm(x, gamma?, beta?": func(f *build.Func,
			x build.Value) build.Value {
			return f.LayerNorm(x, []int{1}, build.PadValue(3))
		},
		"matmul: there is no argument pad; write matmul(x, y, transpose_x?": func(f *build.Func, x build.Value) build.Value {
			return f.Matmul(x, x, build.Padding{1, 1})
		},
	} {
		b := build.New()
		f := b.Func("main")
		f.Output("y", write(f, f.Input("x", build.FP16, 1, 4, 8, 8)))
		_, err := b.Program()
		require.ErrorContains(t, err, want)
	}
}
