package kernels

import "github.com/anekit/anekit/internal/ops"

// walk visits two operands in the order of their broadcast result. It merges
// axes along which both operands advance in the same way.
type walk struct {
	total        int
	dims, xs, ys []int // merged axes, strides in elements, 0 where repeated
	xstep, ystep int   // strides along the last axis: 0 or 1
}

// broadcast plans the walk for operands of shapes x and y.
func broadcast(out, x, y []int) walk {
	w := walk{total: ops.Volume(out)}
	w.dims, w.xs, w.ys = merge(out, repeated(out, x), repeated(out, y))
	last := len(w.dims) - 1
	w.xstep, w.ystep = w.xs[last], w.ys[last]
	return w
}

// merge joins neighbouring axes that are contiguous in both tensors and drops
// axes of length 1. It keeps at least one axis. by and to are the tensors'
// strides.
func merge(dims, by, to []int) (merged, mergedBy, mergedTo []int) {
	for i, n := range dims {
		if n == 1 {
			continue
		}
		last := len(merged) - 1
		if last >= 0 && mergedBy[last] == by[i]*n && mergedTo[last] == to[i]*n {
			merged[last] *= n
			mergedBy[last], mergedTo[last] = by[i], to[i]
			continue
		}
		merged, mergedBy, mergedTo = append(merged, n), append(mergedBy, by[i]), append(mergedTo, to[i])
	}
	if len(merged) == 0 {
		return []int{1}, []int{1}, []int{1}
	}
	return merged, mergedBy, mergedTo
}

// repeated returns the strides, along the axes of out, of a dense operand of
// shape s. The stride is 0 along an axis that repeats the operand.
func repeated(out, s []int) []int {
	strides := make([]int, len(out))
	step := 1
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] != 1 {
			strides[i+len(out)-len(s)] = step
		}
		step *= s[i]
	}
	return strides
}

// at returns the offsets of the operands for element i of the result, and the
// number of elements from i to the end of the last axis.
func (w *walk) at(i int) (x, y, n int) {
	last := len(w.dims) - 1
	col := i % w.dims[last]
	n = w.dims[last] - col
	x, y = col*w.xs[last], col*w.ys[last]
	i /= w.dims[last]
	for d := last - 1; d >= 0; d-- {
		k := i % w.dims[d]
		x += k * w.xs[d]
		y += k * w.ys[d]
		i /= w.dims[d]
	}
	return x, y, n
}
