package models_test

import (
	"slices"

	"github.com/anekit/anekit/ane/mil"
)

// along applies f to every lane of x along axis.
func along(x *tensor, axis int, f func(lane []float64) []float64) []*tensor {
	axis = (axis + len(x.shape)) % len(x.shape)
	y := &tensor{shape: x.shape, at: slices.Clone(x.at)}
	step, n := volume(x.shape[axis+1:]), x.shape[axis]
	for first := range x.at {
		if first/step%n != 0 {
			continue
		}
		lane := make([]float64, n)
		for j := range lane {
			lane[j] = x.at[first+j*step]
		}
		for j, v := range f(lane) {
			y.at[first+j*step] = v
		}
	}
	return []*tensor{y}
}

// reduce returns the sum of x times factor, computed as a reduction or as products.
func (e *evaluation) reduce(x []float64, factor float64) float64 {
	if e.macSums {
		return e.sum(x, slices.Repeat([]float64{factor}, len(x)))
	}
	return e.half(away(total(x)) * factor)
}

func (e *evaluation) softmax(op *mil.Op) []*tensor {
	return along(e.arg(op, "x"), e.arg(op, "axis").ints()[0], func(x []float64) []float64 {
		top := slices.Max(x)
		p := mapped(x, func(v float64) float64 { return e.exp(e.half(v - top)) })
		sum := e.reduce(p, 1)
		if e.divide {
			return mapped(p, func(v float64) float64 { return e.half(v / sum) })
		}
		scale := e.inverse(sum, 0)
		return mapped(p, func(v float64) float64 { return e.half(v * scale) })
	})
}

// layerNorm runs along the last axis, every step rounded.
func (e *evaluation) layerNorm(op *mil.Op) []*tensor {
	gamma, beta, epsilon := e.arg(op, "gamma").at, e.arg(op, "beta").at, e.arg(op, "epsilon").at[0]
	return along(e.arg(op, "x"), e.arg(op, "axes").ints()[0], func(x []float64) []float64 {
		part := 1 / float64(len(x))
		mean := e.reduce(x, part)
		apart := mapped(x, func(v float64) float64 { return e.half(v - mean) })
		square := func(v float64) float64 { return e.half(v * v) }
		variance := e.reduce(mapped(apart, square), part)
		if e.squares {
			variance = e.half(e.reduce(mapped(x, square), part) - square(mean))
		}
		scale := e.rsqrt(variance, epsilon)
		for j, v := range apart {
			apart[j] = e.half(e.half(e.half(v*scale)*gamma[j]) + beta[j])
		}
		return apart
	})
}

func mapped(x []float64, f func(float64) float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = f(v)
	}
	return y
}
