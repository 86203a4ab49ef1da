package models

import (
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/build"
)

// packedMatmul has activations and weights in one input: columns 0 to 31 are the
// activations, 32 to 95 the weights. So weights can change without compiling again.
func packedMatmul() (Model, error) {
	const k, n, seq = 64, 64, 32
	return Model{
		Name: "packed-matmul", About: "matmul whose weights are an input, packed beside the activations",
		Input:     factors(),
		Tolerance: exactly("sums of 64 products are sixteenths within 100, which fp16 holds"),
		Reference: func(in map[string][]float64) map[string][]float64 {
			x, y := in["x"], make([]float64, n*seq)
			for o := range n {
				for s := range seq {
					for c := range k {
						y[o*seq+s] += x[c*(seq+n)+s] * x[c*(seq+n)+seq+o]
					}
				}
			}
			return map[string][]float64{"y": y}
		},
	}.built(func(f *build.Func) {
		x := f.Input("x", mil.FP16, 1, k, 1, seq+n)
		cut := func(begin, size int) build.Value {
			part := f.SliceBySize(x, []int{0, 0, 0, begin}, []int{1, k, 1, size})
			return f.Reshape(part, 1, 1, k, size)
		}
		rows := f.Transpose(cut(0, seq), 0, 1, 3, 2)
		back := f.Transpose(f.Matmul(rows, cut(seq, n)), 0, 1, 3, 2)
		f.Output("y", f.Reshape(back, 1, n, 1, seq))
	})
}

// convPointwise is a 1x1 convolution, the engine's fastest form.
func convPointwise() (Model, error) {
	return convolution("conv-1x1", "1x1 convolution, 64 to 32 channels, weights in a file", 64, 32, 1, 1, 64, factors())
}

// conv3x3 pads its input with a border of zeros.
func conv3x3() (Model, error) {
	return convolution("conv-3x3", "3x3 convolution with a border, 8 to 16 channels", 8, 16, 3, 16, 32, factors())
}

// convolution maps [1, ci, h, w] to [1, co, h, w] with a k x k kernel and a
// border of (k-1)/2 zeros. generate makes weights and inputs.
func convolution(name, about string, ci, co, k, h, w int, generate input) (Model, error) {
	values := generate(name, co*ci*k*k, 1)
	border := (k - 1) / 2
	return Model{
		Name: name, About: about, Input: generate,
		Tolerance: exactly("sums of up to 72 products are sixteenths within 112.5, which fp16 holds"),
		Reference: func(in map[string][]float64) map[string][]float64 {
			x, y := in["x"], make([]float64, co*h*w)
			at := func(c, i, j int) float64 {
				if i < 0 || i >= h || j < 0 || j >= w {
					return 0
				}
				return x[(c*h+i)*w+j]
			}
			for o := range y {
				out, i, j := o/(h*w), o/w%h, o%w
				for n := range ci * k * k {
					y[o] += values[out*ci*k*k+n] * at(n/(k*k), i+n/k%k-border, j+n%k-border)
				}
			}
			return map[string][]float64{"y": y}
		},
	}.built(func(f *build.Func) {
		x := f.Input("x", mil.FP16, 1, ci, h, w)
		weight := f.Weight("w", singles(values), co, ci, k, k)
		f.Output("y", f.Conv(x, weight, build.Padding{border, border, border, border}))
	})
}
