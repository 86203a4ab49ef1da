package build_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
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

// No option makes an operator panic, whether it is one of its own or not.
func TestEveryOptionOfEveryOperator(t *testing.T) {
	for i := range 26 {
		b := build.New()
		f := b.Func("main")
		x := f.Input("x", build.FP16, 1, 4, 8, 8)
		n := f.Input("n", mil.Int32, 1, 4, 8, 8)
		o := []build.Optional{build.Strides{2, 2}, build.Padding{1, 1}, build.Same, build.Dilations{2}, build.Groups(2),
			build.OutputShape{1}, build.CeilMode(true), build.ExcludePadding(true), build.Bias(x), build.TransposeX(true),
			build.TransposeY(true), build.AttnMask(x), build.KeepDims(true), build.IndexType(mil.UInt16), build.Gamma(x),
			build.Beta(n), build.Epsilon(1), build.BeginMask{true}, build.EndMask{}, build.SqueezeMask{false},
			build.PadReflect, build.PadValue(1), build.BatchDims(1), build.ValidateIndices(true), build.Ascending(true),
			build.VectorAxis(1)}[i]
		f.Conv(x, x, o)
		f.ConvTranspose(x, x, o)
		f.MaxPool(x, []int{2, 2}, o)
		f.AvgPool(x, []int{2, 2}, o)
		f.ReduceSum(n, nil, o)
		f.ReduceArgmax(x, 1, o)
		f.LayerNorm(x, nil, o)
		f.BatchNorm(x, n, n, o)
		f.L2Norm(x, o)
		f.Matmul(x, x, o)
		f.Linear(x, x, o)
		f.ScaledDotProductAttention(x, x, x, o)
		f.CropResize(x, x, build.Crop{}, o)
		f.SliceByIndex(x, nil, []int{1}, o)
		f.SliceUpdate(x, x, nil, nil, o)
		f.Pad(x, []int{1}, o)
		f.Quantize(x, n, mil.Int8, o)
		f.Dequantize(n, x, o)
		f.ConstexprLutToDense(n, x, o)
		f.Cumsum(n, 1, o)
		f.Gather(x, n, 1, o)
		f.GatherNd(x, n, o)
		f.Scatter(x, n, x, 0, o)
		f.Topk(x, 1, 1, o)
		_, err := b.Program()
		require.Error(t, err)
	}
}
