package models

import "github.com/anekit/anekit/ane/mil"

// Shapes of the small programs: 64 channels of 32 values, 64 bytes per row.
const channels, width = 64, 32

var small = mil.TensorOf(mil.FP16, 1, channels, 1, width)

// identity multiplies by one: the engine refuses programs that compute nothing.
func identity() (Model, error) {
	b := mil.NewBuilder()
	f := b.Func("main")
	x := f.Input("x", mil.FP16, 1, channels, 1, width)
	one := f.Const("one", mil.FP16Scalar(1))
	f.Output(f.Op("mul", small, "y", mil.A("x", x), mil.A("y", one)))
	return Model{
		Name: "identity", About: "y = x", Input: steps(32),
		Tolerance: exactly("values of 11 bits do not change"),
		Reference: func(in map[string][]float64) map[string][]float64 {
			return map[string][]float64{"y": in["x"]}
		},
	}.finish(b)
}

// add has two inputs.
func add() (Model, error) {
	b := mil.NewBuilder()
	f := b.Func("main")
	x0 := f.Input("a", mil.FP16, 1, channels, 1, width)
	x1 := f.Input("b", mil.FP16, 1, channels, 1, width)
	f.Output(f.Op("add", small, "c", mil.A("x", x0), mil.A("y", x1)))
	return Model{
		Name: "add", About: "c = a + b", Input: steps(16),
		Tolerance: exactly("sums of multiples of 1/64 within 32 have at most 11 bits"),
		Reference: func(in map[string][]float64) map[string][]float64 {
			return map[string][]float64{"c": zip(in["a"], in["b"], func(a, b float64) float64 { return a + b })}
		},
	}.finish(b)
}

// scaleBias has an intermediate value between two operations.
func scaleBias() (Model, error) {
	b := mil.NewBuilder()
	f := b.Func("main")
	x := f.Input("x", mil.FP16, 1, channels, 1, width)
	k := f.Const("k", mil.FP16Scalar(1.5))
	c := f.Const("c", mil.FP16Scalar(-0.25))
	scaled := f.Op("mul", small, "scaled", mil.A("x", x), mil.A("y", k))
	f.Output(f.Op("add", small, "y", mil.A("x", scaled), mil.A("y", c)))
	return Model{
		Name: "scale-bias", About: "y = 1.5 x - 0.25", Input: steps(8),
		Tolerance: exactly("multiples of 1/128 within 12.25 have at most 11 bits"),
		Reference: func(in map[string][]float64) map[string][]float64 {
			return map[string][]float64{"y": each(in["x"], func(x float64) float64 { return 1.5*x - 0.25 })}
		},
	}.finish(b)
}

// castEdges has fp32 input and output; the arithmetic is fp16. Its rows of 20 values
// are padded to 128 bytes.
func castEdges() (Model, error) {
	shape := []int{1, channels, 1, 20}
	b := mil.NewBuilder()
	f := b.Func("main")
	x := f.Input("x", mil.FP32, shape...)
	to16 := f.Const("to16", mil.StringScalar("fp16"))
	to32 := f.Const("to32", mil.StringScalar("fp32"))
	k := f.Const("k", mil.FP16Scalar(0.5))
	h := f.Op("cast", mil.TensorOf(mil.FP16, shape...), "h", mil.A("dtype", to16), mil.A("x", x))
	g := f.Op("mul", mil.TensorOf(mil.FP16, shape...), "g", mil.A("x", h), mil.A("y", k))
	f.Output(f.Op("cast", mil.TensorOf(mil.FP32, shape...), "y", mil.A("dtype", to32), mil.A("x", g)))
	return Model{
		Name: "cast", About: "fp32 in and out, padded rows, y = x / 2 in fp16", Input: steps(32),
		Tolerance: exactly("values of 11 bits, halved"),
		Reference: func(in map[string][]float64) map[string][]float64 {
			return map[string][]float64{"y": each(in["x"], func(x float64) float64 { return x / 2 })}
		},
	}.finish(b)
}

// split has two outputs of the same size, which an engine could swap by mistake.
func split() (Model, error) {
	b := mil.NewBuilder()
	f := b.Func("main")
	x := f.Input("x", mil.FP16, 1, channels, 1, width)
	axis := f.Const("axis", mil.Int32Scalar(1))
	sizes := f.Const("sizes", mil.Int32s(32, 32))
	parts := f.Ops("split", []mil.Var{
		{Name: "first", Type: mil.TensorOf(mil.FP16, 1, 32, 1, width)},
		{Name: "rest", Type: mil.TensorOf(mil.FP16, 1, 32, 1, width)},
	}, mil.A("axis", axis), mil.A("split_sizes", sizes), mil.A("x", x))
	two := f.Const("two", mil.FP16Scalar(2))
	y := f.Op("mul", mil.TensorOf(mil.FP16, 1, 32, 1, width), "y0", mil.A("x", parts[0]), mil.A("y", two))
	z := f.Op("abs", mil.TensorOf(mil.FP16, 1, 32, 1, width), "y1", mil.A("x", parts[1]))
	f.Output(y, z)
	return Model{
		Name: "split", About: "two outputs: y0 = 2 x[:32], y1 = |x[32:]|", Input: steps(32),
		Tolerance: exactly("values of 11 bits, doubled or without their sign"),
		Reference: func(in map[string][]float64) map[string][]float64 {
			x, cut := in["x"], 32*width
			return map[string][]float64{
				"y0": each(x[:cut], func(x float64) float64 { return 2 * x }),
				"y1": each(x[cut:], func(x float64) float64 { return max(x, -x) }),
			}
		},
	}.finish(b)
}

// each maps every value.
func each(x []float64, f func(float64) float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = f(v)
	}
	return out
}

// zip combines two vectors.
func zip(x, y []float64, f func(x, y float64) float64) []float64 {
	out := make([]float64, len(x))
	for i := range x {
		out[i] = f(x[i], y[i])
	}
	return out
}
