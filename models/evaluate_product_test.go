package models_test

import (
	"math"

	"github.com/anekit/anekit/ane/mil"
)

// sum multiplies and adds as the chip does, and records the reach of the sum.
func (e *evaluation) sum(x, w []float64) float64 {
	reach := 0.0
	for i := range x {
		reach += math.Abs(x[i] * w[i])
	}
	e.reach = max(e.reach, reach)
	return e.dot(x, w)
}

// matmul multiplies the matrices in the last two axes; the axes before them are equal.
func (e *evaluation) matmul(op *mil.Op) []*tensor {
	x, y := e.arg(op, "x"), e.arg(op, "y")
	turnX, turnY := e.arg(op, "transpose_x").yes(), e.arg(op, "transpose_y").yes()
	shape, _ := op.Results[0].Type.Shape()
	m, n := shape[len(shape)-2], shape[len(shape)-1]
	inner := x.shape[len(shape)-1]
	if turnX {
		inner = x.shape[len(shape)-2]
	}
	a, b := make([]float64, inner), make([]float64, inner)
	return []*tensor{filled(shape, func(i int) float64 {
		batch, row, col := i/(m*n), i/n%m, i%n
		for k := range inner {
			a[k] = x.at[batch*m*inner+cell(row, k, m, inner, turnX)]
			b[k] = y.at[batch*inner*n+cell(k, col, inner, n, turnY)]
		}
		return e.sum(a, b)
	})}
}

// cell is the index of element (row, col) of a matrix, which may be stored transposed.
func cell(row, col, rows, cols int, turned bool) int {
	if turned {
		return col*rows + row
	}
	return row*cols + col
}

// conv has strides and dilations of 1. The order of products is by row and column of
// the kernel, channels fastest.
func (e *evaluation) conv(op *mil.Op) []*tensor {
	x, w := e.arg(op, "x"), e.arg(op, "weight")
	groups := e.arg(op, "groups").ints()[0]
	top, left := 0, 0
	if e.arg(op, "pad_type").word == "custom" {
		pad := e.arg(op, "pad").ints()
		top, left = pad[0], pad[2]
	}
	shape, _ := op.Results[0].Type.Shape()
	outputs, inputs, kh, kw := shape[1]/groups, w.shape[1], w.shape[2], w.shape[3]
	height, width := x.shape[2], x.shape[3]
	a, b := make([]float64, kh*kw*inputs), make([]float64, kh*kw*inputs)
	return []*tensor{filled(shape, func(i int) float64 {
		out := indices(shape, i)
		for n := range a {
			r, c, ch := n/(kw*inputs), n/inputs%kw, n%inputs
			plane := out[0]*x.shape[1] + out[1]/outputs*inputs + ch
			row, col := out[2]+r-top, out[3]+c-left
			a[n] = 0 // outside of x
			if row >= 0 && row < height && col >= 0 && col < width {
				a[n] = x.at[(plane*height+row)*width+col]
			}
			b[n] = w.at[((out[1]*inputs+ch)*kh+r)*kw+c]
		}
		return e.sum(a, b)
	})}
}
