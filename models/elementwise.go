package models

import (
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/build"
)

// Shapes of the small programs: 64 channels of 32 values, 64 bytes per row.
const channels, width = 64, 32

// small adds an input of 64 channels of 32 values.
func small(f *build.Func, name string) build.Value {
	return f.Input(name, mil.FP16, 1, channels, 1, width)
}

// identity multiplies by one: the engine refuses programs that compute nothing.
func identity() (Model, error) {
	return Model{
		Name: "identity", About: "y = x", Input: steps(32),
		Tolerance: exactly("values of 11 bits do not change"),
		Reference: func(in map[string][]float64) map[string][]float64 {
			return map[string][]float64{"y": in["x"]}
		},
	}.built(func(f *build.Func) {
		x := small(f, "x")
		f.Output("y", f.Mul(x, f.Const("one", mil.FP16Scalar(1))))
	})
}

// add has two inputs.
func add() (Model, error) {
	return Model{
		Name: "add", About: "c = a + b", Input: steps(16),
		Tolerance: exactly("sums of multiples of 1/64 within 32 have at most 11 bits"),
		Reference: func(in map[string][]float64) map[string][]float64 {
			c := make([]float64, channels*width)
			for i := range c {
				c[i] = in["a"][i] + in["b"][i]
			}
			return map[string][]float64{"c": c}
		},
	}.built(func(f *build.Func) {
		a, b := small(f, "a"), small(f, "b")
		f.Output("c", f.Add(a, b))
	})
}

// scaleBias has an intermediate value between two operations.
func scaleBias() (Model, error) {
	return Model{
		Name: "scale-bias", About: "y = 1.5 x - 0.25", Input: steps(8),
		Tolerance: exactly("multiples of 1/128 within 12.25 have at most 11 bits"),
		Reference: func(in map[string][]float64) map[string][]float64 {
			return map[string][]float64{"y": each(in["x"], func(x float64) float64 { return 1.5*x - 0.25 })}
		},
	}.built(func(f *build.Func) {
		scaled := f.Mul(small(f, "x"), f.Scalar(1.5))
		f.Output("y", f.Add(scaled, f.Scalar(-0.25)))
	})
}

// castEdges has fp32 input and output; the arithmetic is fp16. Its rows of 20 values
// are padded to 128 bytes.
func castEdges() (Model, error) {
	return Model{
		Name: "cast", About: "fp32 in and out, padded rows, y = x / 2 in fp16", Input: steps(32),
		Tolerance: exactly("values of 11 bits, halved"),
		Reference: func(in map[string][]float64) map[string][]float64 {
			return map[string][]float64{"y": each(in["x"], func(x float64) float64 { return x / 2 })}
		},
	}.built(func(f *build.Func) {
		half := f.Cast(f.Input("x", mil.FP32, 1, channels, 1, 20), mil.FP16)
		f.Output("y", f.Cast(f.Mul(half, f.Scalar(0.5)), mil.FP32))
	})
}

// split has two outputs of the same size, which an engine could swap by mistake.
func split() (Model, error) {
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
	}.built(func(f *build.Func) {
		parts := f.SplitSizes(small(f, "x"), 1, 32, 32)
		f.Output("y0", f.Mul(parts[0], f.Scalar(2)))
		f.Output("y1", f.Abs(parts[1]))
	})
}

// each maps every value.
func each(x []float64, f func(float64) float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = f(v)
	}
	return out
}
