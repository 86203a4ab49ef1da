package models

import (
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
)

// packedMatmul has activations and weights in one input: columns 0 to 31 are the
// activations, 32 to 95 the weights. So weights can change without compiling again.
func packedMatmul() (Model, error) {
	const k, n, seq = 64, 64, 32
	t := func(shape ...int) mil.Type { return mil.TensorOf(mil.FP16, shape...) }
	b := mil.NewBuilder()
	f := b.Func("main")
	x := f.Input("x", mil.FP16, 1, k, 1, seq+n)
	no := f.Const("no", mil.BoolScalar(false))
	perm := f.Const("perm", mil.Int32s(0, 1, 3, 2))
	cut := func(name string, begin, size int) mil.Ref {
		from := f.Const(name+"_from", mil.Int32s(0, 0, 0, begin))
		box := f.Const(name+"_box", mil.Int32s(1, k, 1, size))
		flat := f.Const(name+"_flat", mil.Int32s(1, 1, k, size))
		part := f.Op("slice_by_size", t(1, k, 1, size), name+"_part", mil.A("begin", from), mil.A("size", box),
			mil.A("x", x))
		return f.Op("reshape", t(1, 1, k, size), name, mil.A("shape", flat), mil.A("x", part))
	}
	act, weight := cut("act", 0, seq), cut("weight", seq, n)
	rows := f.Op("transpose", t(1, 1, seq, k), "rows", mil.A("perm", perm), mil.A("x", act))
	prod := f.Op("matmul", t(1, 1, seq, n), "prod", mil.A("transpose_x", no), mil.A("transpose_y", no),
		mil.A("x", rows), mil.A("y", weight))
	back := f.Op("transpose", t(1, 1, n, seq), "back", mil.A("perm", perm), mil.A("x", prod))
	shape := f.Const("shape", mil.Int32s(1, n, 1, seq))
	f.Output(f.Op("reshape", t(1, n, 1, seq), "y", mil.A("shape", shape), mil.A("x", back)))
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
	}.finish(b)
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
	var file weights
	at, err := file.add(values)
	if err != nil {
		return Model{}, err
	}
	border := (k - 1) / 2
	b := mil.NewBuilder()
	f := b.Func("main")
	x := f.Input("x", mil.FP16, 1, ci, h, w)
	weight := f.Blob("w", mil.TensorOf(mil.FP16, co, ci, k, k), blob.WeightFile, at)
	args := []mil.Arg{
		mil.A("dilations", f.Const("dilations", mil.Int32s(1, 1))),
		mil.A("groups", f.Const("groups", mil.Int32Scalar(1))),
		mil.A("pad", f.Const("pad", mil.Int32s(border, border, border, border))),
		mil.A("pad_type", f.Const("pad_type", mil.StringScalar("custom"))),
		mil.A("strides", f.Const("strides", mil.Int32s(1, 1))),
		mil.A("weight", weight), mil.A("x", x),
	}
	f.Output(f.Op("conv", mil.TensorOf(mil.FP16, 1, co, h, w), "y", args...))
	return Model{
		Name: name, About: about, Weights: file.files(), Input: generate,
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
	}.finish(b)
}
