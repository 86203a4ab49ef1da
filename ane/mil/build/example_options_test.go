package build_test

import (
	"fmt"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/build"
)

// weight returns a weight of zeros.
func weight(f *build.Func, name string, shape ...int) build.Value {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return f.Weight(name, make([]float32, n), shape...)
}

// Padding has a pair for each spatial axis: top, bottom, left, right.
func ExampleFunc_Conv_options() {
	f := build.New().Func("main")
	x := f.Input("x", build.FP16, 1, 8, 32, 32)
	w := weight(f, "w", 16, 8, 3, 3)
	fmt.Println(f.Conv(x, w).Shape(), f.Conv(x, w, build.Same).Shape())
	fmt.Println(f.Conv(x, w, build.Padding{2, 2, 1, 1}, build.Dilations{2, 1}, build.Strides{1, 2}).Shape())
	// Output:
	// [1 16 30 30] [1 16 32 32]
	// [1 16 32 16]
}

func ExamplePadType() {
	f := build.New().Func("main")
	x := f.Input("x", build.FP16, 1, 8, 15, 15)
	for _, rule := range []build.PadType{build.Valid, build.Same, build.SameLower} {
		fmt.Println(rule, f.MaxPool(x, []int{2, 2}, build.Strides{2, 2}, rule).Shape())
	}
	// Output:
	// valid [1 8 7 7]
	// same [1 8 8 8]
	// same_lower [1 8 8 8]
}

func ExampleFunc_ConvTranspose() {
	f := build.New().Func("main")
	x := f.Input("x", build.FP16, 1, 8, 16, 16)
	w := weight(f, "w", 8, 4, 3, 3)
	twice := []build.Optional{build.Same, build.Strides{2, 2}, build.Bias(weight(f, "bias", 4))}
	fmt.Println(f.ConvTranspose(x, w, twice...).Shape())
	fmt.Println(f.ConvTranspose(x, w, append(twice, build.OutputShape{1, 4, 31, 31})...).Shape())
	// Output:
	// [1 4 32 32]
	// [1 4 31 31]
}

func ExampleFunc_MaxPool() {
	f := build.New().Func("main")
	x := f.Input("x", build.FP16, 1, 8, 15, 15)
	fmt.Println(f.MaxPool(x, []int{2, 2}, build.Strides{2, 2}).Shape())
	fmt.Println(f.MaxPool(x, []int{2, 2}, build.Strides{2, 2}, build.CeilMode(true)).Shape())
	// Output:
	// [1 8 7 7]
	// [1 8 8 8]
}

// A window at the edge has the mean of its elements, without the zeros around x.
func ExampleFunc_AvgPool() {
	f := build.New().Func("main")
	x := f.Input("x", build.FP16, 1, 8, 16, 16)
	fmt.Println(f.AvgPool(x, []int{3, 3}, build.Same, build.ExcludePadding(true)).Shape())
	// Output: [1 8 16 16]
}

func ExampleFunc_LayerNorm() {
	f := build.New().Func("main")
	x := f.Input("x", build.FP16, 1, 64, 1, 32)
	gamma, beta := weight(f, "gamma", 64), weight(f, "beta", 64)
	y := f.InstanceNorm(x, build.Gamma(gamma), build.Beta(beta), build.Epsilon(1e-3))
	fmt.Println(y.Shape())
	// Output: [1 64 1 32]
}

func ExampleFunc_L2Norm() {
	f := build.New().Func("main")
	x := f.Input("x", build.FP16, 1, 64, 1, 32)
	fmt.Println(f.L2Norm(x, build.Epsilon(1e-4)).Shape())
	// Output: [1 64 1 32]
}

func ExampleFunc_Linear() {
	f := build.New().Func("main")
	x := f.Input("x", build.FP16, 4, 64)
	fmt.Println(f.Linear(x, weight(f, "w", 10, 64), build.Bias(weight(f, "bias", 10))).Shape())
	// Output: [4 10]
}

func ExampleFunc_Matmul() {
	f := build.New().Func("main")
	x := f.Input("x", build.FP16, 64, 4)
	y := f.Input("y", build.FP16, 10, 64)
	fmt.Println(f.Matmul(x, y, build.TransposeX(true), build.TransposeY(true)).Shape())
	// Output: [4 10]
}

// A mask: an element of true lets a query see a key.
func ExampleFunc_ScaledDotProductAttention() {
	f := build.New().Func("main")
	q := f.Input("q", build.FP16, 1, 8, 16, 64)
	k := f.Input("k", build.FP16, 1, 8, 128, 64)
	v := f.Input("v", build.FP16, 1, 8, 128, 64)
	mask := f.Input("mask", mil.Bool, 16, 128)
	fmt.Println(f.ScaledDotProductAttention(q, k, v, build.AttnMask(mask)).Shape())
	// Output: [1 8 16 64]
}

func ExampleGeluMode() {
	f := build.New().Func("main")
	x := f.Input("x", build.FP16, 1, 64, 1, 32)
	fmt.Println(f.Gelu(x, build.GeluTanh).Shape())
	// Output: [1 64 1 32]
}

func ExampleLocalResponse() {
	f := build.New().Func("main")
	x := f.Input("x", build.FP16, 1, 64, 8, 8)
	fmt.Println(f.LocalResponseNorm(x, build.LocalResponse{Size: 5, Alpha: 1e-4, Beta: 0.75, K: 1}).Shape())
	// Output: [1 64 8 8]
}

func ExampleFunc_ReduceSum() {
	f := build.New().Func("main")
	x := f.Input("x", build.FP16, 1, 64, 1, 32)
	fmt.Println(f.ReduceSum(x, []int{1}).Shape(), f.ReduceSum(x, []int{1}, build.KeepDims(true)).Shape())
	// Output: [1 1 32] [1 1 1 32]
}

func ExampleFunc_ReduceArgmax() {
	f := build.New().Func("main")
	x := f.Input("x", build.FP16, 4, 1000)
	y := f.ReduceArgmax(x, 1, build.KeepDims(true), build.IndexType(mil.UInt16))
	fmt.Println(y.Type())
	// Output: tensor<uint16, [4, 1]>
}

func ExampleFunc_Topk() {
	f := build.New().Func("main")
	x := f.Input("x", build.FP16, 4, 1000)
	least, at := f.Topk(x, 5, 1, build.Ascending(true), build.IndexType(mil.UInt16))
	fmt.Println(least.Type(), at.Type())
	// Output: tensor<fp16, [4, 5]> tensor<uint16, [4, 5]>
}

// Each element becomes the sum of those after it.
func ExampleFunc_Cumsum() {
	f := build.New().Func("main")
	x := f.Input("x", build.FP16, 4, 1000)
	fmt.Println(f.Cumsum(x, 1, build.Exclusive(true), build.Backward(true)).Shape())
	// Output: [4 1000]
}

// Each of the four images has indices of its own.
func ExampleFunc_Gather() {
	f := build.New().Func("main")
	x := f.Input("x", build.FP16, 4, 100, 32)
	at := f.Const("at", mil.Ints(mil.TensorOf(mil.Int32, 4, 2), []int{0, 1, 2, 3, 4, 5, 6, 7}))
	y := f.Gather(x, at, 1, build.BatchDims(1), build.ValidateIndices(true))
	fmt.Println(y.Shape())
	// Output: [4 2 32]
}

func ExampleFunc_GatherAlongAxis() {
	f := build.New().Func("main")
	x := f.Input("x", build.FP16, 2, 100)
	at := f.Const("at", mil.Ints(mil.TensorOf(mil.Int32, 2, 3), []int{0, 1, 2, 97, 98, 99}))
	fmt.Println(f.GatherAlongAxis(x, at, 1, build.ValidateIndices(true)).Shape())
	// Output: [2 3]
}

// Rows that are named twice get both updates.
func ExampleScatterMode() {
	f := build.New().Func("main")
	x := f.Input("x", build.FP16, 100, 32)
	rows := f.Input("rows", build.FP16, 2, 32)
	at := f.Const("at", mil.Ints(mil.TensorOf(mil.Int32, 2), []int{7, 7}))
	for _, mode := range []build.ScatterMode{build.ScatterAdd, build.ScatterMax} {
		fmt.Println(mode, f.Scatter(x, at, rows, 0, mode).Shape())
	}
	// Output:
	// add [100 32]
	// max [100 32]
}

func ExampleFunc_Scatter() {
	f := build.New().Func("main")
	x := f.Input("x", build.FP16, 100, 32)
	rows := f.Input("rows", build.FP16, 2, 32)
	at := f.Const("at", mil.Ints(mil.TensorOf(mil.Int32, 2), []int{7, 9}))
	fmt.Println(f.Scatter(x, at, rows, 0, build.ScatterUpdate, build.ValidateIndices(true)).Shape())
	// Output: [100 32]
}

// x[:, 3, ::2], in the words of NumPy.
func ExampleFunc_SliceByIndex() {
	f := build.New().Func("main")
	x := f.Input("x", build.FP16, 8, 16, 32)
	y := f.SliceByIndex(x, []int{0, 3, 0}, []int{0, 4, 0}, build.BeginMask{true, false, true},
		build.EndMask{true, false, true}, build.SqueezeMask{false, true, false}, build.Strides{1, 1, 2})
	fmt.Println(y.Shape())
	// Output: [8 16]
}

func ExamplePadMode() {
	f := build.New().Func("main")
	x := f.Input("x", build.FP16, 1, 8, 16, 16)
	for _, mode := range []build.PadMode{build.PadConstant, build.PadReflect, build.PadReplicate} {
		fmt.Println(mode, f.Pad(x, []int{1, 1, 2, 2}, mode).Shape())
	}
	// Output:
	// constant [1 8 18 20]
	// reflect [1 8 18 20]
	// replicate [1 8 18 20]
}

// A border of ones on the right.
func ExampleFunc_Pad() {
	f := build.New().Func("main")
	x := f.Input("x", build.FP16, 1, 8, 16, 16)
	fmt.Println(f.Pad(x, []int{0, 2}, build.PadValue(1)).Shape())
	// Output: [1 8 16 18]
}

// Two boxes of the second image and one of the first.
func ExampleFunc_CropResize() {
	f := build.New().Func("main")
	x := f.Input("x", build.FP16, 2, 3, 64, 64)
	boxes := f.Input("boxes", build.FP16, 3, 4)
	images := f.Const("images", mil.Ints(mil.TensorOf(mil.Int32, 3), []int{1, 1, 0}))
	crop := build.Crop{Height: 8, Width: 8, Normalized: true, Mode: build.SampleAlign}
	fmt.Println(f.CropResize(x, boxes, crop, build.BoxIndices(images)).Shape())
	// Output: [3 3 8 8]
}

func ExampleSamplingMode() {
	f := build.New().Func("main")
	x := f.Input("x", build.FP16, 1, 3, 64, 64)
	fmt.Println(f.ResizeBilinear(x, 128, 96, build.SampleStrictAlign).Shape())
	// Output: [1 3 128 96]
}

func ExampleSampler() {
	f := build.New().Func("main")
	x := f.Input("x", build.FP16, 1, 3, 64, 64)
	places := f.Input("places", build.FP16, 1, 16, 16, 2)
	s := build.Sampler{Sampling: "nearest", Padding: "border", Coordinates: "unnormalized"}
	fmt.Println(f.Resample(x, places, s).Shape())
	// Output: [1 3 16 16]
}

// y keeps its batch and takes the other lengths of x.
func ExampleAxesOf() {
	f := build.New().Func("main")
	x := f.Input("x", build.FP16, 9, 4, 8)
	y := f.Input("y", build.FP16, 2, 32)
	z := f.ReshapeLike(y, build.AxesOf{Value: y, Begin: 0, End: 1}, build.AxesOf{Value: x, Begin: 1, ToEnd: true})
	fmt.Println(z.Shape())
	// Output: [2 4 8]
}

func ExampleFunc_Quantize() {
	f := build.New().Func("main")
	x := f.Input("x", build.FP16, 2, 100)
	scale := f.Const("scale", mil.Floats(mil.TensorOf(mil.FP16, 2), []float64{0.5, 0.25}))
	zero := f.Const("zero", mil.Ints(mil.TensorOf(mil.Int8, 2), []int{0, 3}))
	q := f.Quantize(x, scale, mil.Int8, build.Axis(0), build.ZeroPoint(zero))
	fmt.Println(q.Type())
	// Output: tensor<int8, [2, 100]>
}

// Eight indexes of one bit each, in a byte, choose among two entries: the form before opset ios18.
func ExampleFunc_ConstexprLutToDense() {
	f := build.New(build.Opset("ios16")).Func("main")
	bits := f.Const("bits", mil.Ints(mil.TensorOf(mil.UInt8, 1), []int{0b10110001}))
	table := f.Const("table", mil.Floats(mil.TensorOf(mil.FP16, 2), []float64{-1, 1}))
	fmt.Println(f.ConstexprLutToDense(bits, table, build.PackedShape{2, 4}).Shape())
	// Output: [2 4]
}

// An entry of the table is a pair of weights, which lie along axis 0.
func ExampleVectorAxis() {
	f := build.New().Func("main")
	at := f.Const("at", mil.Ints(mil.TensorOf(mil.UInt1, 4, 8), make([]int, 32)))
	table := f.Const("table", mil.Floats(mil.TensorOf(mil.FP16, 1, 1, 2, 2), []float64{-1, 1, 0.5, 2}))
	fmt.Println(f.ConstexprLutToDense(at, table, build.VectorAxis(0)).Shape())
	// Output: [8 8]
}

// One cell runs forward and one backward; the results of both stand on the last axis.
func ExampleRecurrentSettings() {
	f := build.New().Func("main")
	x := f.Input("x", build.FP16, 10, 1, 16)
	h, c := f.Input("h", build.FP16, 1, 64), f.Input("c", build.FP16, 1, 64)
	cell := func(name string) build.Cell {
		return build.Cell{Input: weight(f, name+"_input", 4*32, 16), Hidden: weight(f, name+"_hidden", 4*32, 32)}
	}
	back := cell("back")
	states, last, _ := f.Lstm(x, h, c, cell("ahead"), build.RecurrentSettings{Sequence: true, Back: &back})
	fmt.Println(states.Shape(), last.Shape())
	// Output: [10 1 64] [1 64]
}

func ExampleDirection() {
	f := build.New().Func("main")
	x, h := f.Input("x", build.FP16, 10, 1, 16), f.Input("h", build.FP16, 1, 32)
	w := build.Cell{Input: weight(f, "input", 3*32, 16), Hidden: weight(f, "hidden", 3*32, 32)}
	for _, d := range []build.Direction{build.Forward, build.Reverse} {
		states, last := f.Gru(x, h, w, build.RecurrentSettings{Direction: d, Sequence: true})
		fmt.Println(d, states.Shape(), last.Shape())
	}
	// Output:
	// forward [10 1 32] [1 32]
	// reverse [10 1 32] [1 32]
}

func ExampleSquash() {
	f := build.New().Func("main")
	x, h := f.Input("x", build.FP16, 10, 1, 16), f.Input("h", build.FP16, 1, 32)
	w := build.Cell{Input: weight(f, "input", 32, 16), Hidden: weight(f, "hidden", 32, 32)}
	for _, s := range []build.Squash{build.SquashRelu, build.SquashTanh} {
		states, last := f.Rnn(x, h, w, build.RecurrentSettings{Activation: s})
		fmt.Println(s, states.Shape(), last.Shape())
	}
	// Output:
	// relu [1 1 32] [1 32]
	// tanh [1 1 32] [1 32]
}

// An operator of another engine, by its name.
func ExampleArg() {
	f := build.New().Func("main")
	x := f.Input("x", build.FP16, 1, 64, 1, 32)
	y := f.Op("their_relu", mil.TensorOf(mil.FP16, 1, 64, 1, 32), build.A("x", x),
		build.A("slope", f.Scalar(0.1)))
	fmt.Println(y.Shape())
	// Output: [1 64 1 32]
}

func ExampleValue() {
	f := build.New().Func("main")
	x := f.Input("x", build.FP16, 1, 64, 1, 32)
	y := f.Concat(-1, x, x)
	fmt.Println(y.Type(), y.Shape(), y.Dim(-1))
	// Output: tensor<fp16, [1, 64, 1, 64]> [1 64 1 64] 64
}

// Each weight in a file of its own, as the compiler of M1 is reported to need.
func ExampleOption() {
	for _, options := range [][]build.Option{nil, {build.FilePerWeight(), build.Opset("ios17")}} {
		b := build.New(options...)
		f := b.Func("main")
		x := f.Input("x", build.FP16, 1, 64, 1, 32)
		f.Output("y", f.Conv(f.Conv(x, weight(f, "a", 64, 64, 1, 1)), weight(f, "b", 64, 64, 1, 1)))
		p, err := b.Program()
		check(err)
		fmt.Println(p.Funcs[0].Opset, len(p.Weights))
	}
	// Output:
	// ios18 1
	// ios17 2
}
