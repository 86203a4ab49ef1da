package models_test

import (
	"math"

	"github.com/anekit/anekit/ane/mil"
)

// pair applies f to x and y, repeating axes of length 1, and rounds.
func (e *evaluation) pair(op *mil.Op, f func(a, b float64) float64) []*tensor {
	x, y := e.arg(op, "x"), e.arg(op, "y")
	shape, _ := op.Results[0].Type.Shape()
	return []*tensor{filled(shape, func(i int) float64 {
		return e.half(f(x.at[spread(x.shape, shape, i)], y.at[spread(y.shape, shape, i)]))
	})}
}

// spread is the index in a tensor of shape from, broadcast to shape, of element i of
// the result.
func spread(from, shape []int, i int) int {
	at, step := 0, 1
	for d := len(shape) - 1; d >= 0; d-- {
		if own := d - len(shape) + len(from); own >= 0 {
			if from[own] > 1 {
				at += i % shape[d] * step
			}
			step *= from[own]
		}
		i /= shape[d]
	}
	return at
}

func (e *evaluation) mul(op *mil.Op) []*tensor {
	return e.pair(op, func(a, b float64) float64 { return a * b })
}

func (e *evaluation) add(op *mil.Op) []*tensor {
	return e.pair(op, func(a, b float64) float64 { return a + b })
}

// single applies f to every element of x.
func (e *evaluation) single(op *mil.Op, f func(float64) float64) []*tensor {
	x := e.arg(op, "x")
	return []*tensor{filled(x.shape, func(i int) float64 { return f(x.at[i]) })}
}

func (e *evaluation) abs(op *mil.Op) []*tensor  { return e.single(op, math.Abs) }
func (e *evaluation) root(op *mil.Op) []*tensor { return e.single(op, e.sqrt) }

// cast rounds to fp16; a cast to fp32 does not change values.
func (e *evaluation) cast(op *mil.Op) []*tensor {
	if e.arg(op, "dtype").word == "fp16" {
		return e.single(op, e.half)
	}
	return e.single(op, func(v float64) float64 { return v })
}
