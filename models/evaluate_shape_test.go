package models_test

import (
	"math"

	"github.com/anekit/anekit/ane/mil"
)

func (e *evaluation) reshape(op *mil.Op) []*tensor {
	return []*tensor{{shape: e.arg(op, "shape").ints(), at: e.arg(op, "x").at}}
}

func (e *evaluation) transpose(op *mil.Op) []*tensor {
	x, perm := e.arg(op, "x"), e.arg(op, "perm").ints()
	shape := make([]int, len(perm))
	for d, from := range perm {
		shape[d] = x.shape[from]
	}
	return []*tensor{filled(shape, func(i int) float64 {
		where := make([]int, len(perm))
		for d, n := range indices(shape, i) {
			where[perm[d]] = n
		}
		return x.at[position(x.shape, where)]
	})}
}

// slice copies a box. Some chips overflow large values of a box that does not start at
// column 0.
func (e *evaluation) slice(op *mil.Op) []*tensor {
	x, begin := e.arg(op, "x"), e.arg(op, "begin").ints()
	size := e.arg(op, "size").ints()
	return []*tensor{filled(size, func(i int) float64 {
		where := indices(size, i)
		for d := range where {
			where[d] += begin[d]
		}
		v := x.at[position(x.shape, where)]
		if e.shifts && begin[len(begin)-1] != 0 && math.Abs(v) > 4094 {
			return math.Copysign(infinity, v)
		}
		return v
	})}
}

func (e *evaluation) split(op *mil.Op) []*tensor {
	x, axis := e.arg(op, "x"), e.arg(op, "axis").ints()[0]
	var parts []*tensor
	from := 0
	for _, r := range op.Results {
		shape, _ := r.Type.Shape()
		parts = append(parts, filled(shape, func(i int) float64 {
			where := indices(shape, i)
			where[axis] += from
			return x.at[position(x.shape, where)]
		}))
		from += shape[axis]
	}
	return parts
}

// indices returns the indexes of element i in row-major order.
func indices(shape []int, i int) []int {
	at := make([]int, len(shape))
	for d := len(shape) - 1; d >= 0; d-- {
		at[d], i = i%shape[d], i/shape[d]
	}
	return at
}

// position is the inverse of indices.
func position(shape, at []int) int {
	i := 0
	for d, n := range at {
		i = i*shape[d] + n
	}
	return i
}
