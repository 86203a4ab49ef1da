package soft

import "github.com/anekit/anekit/ane/mil/ops"

// walk goes through two operands in the order of the elements of their
// broadcast result. Axes along which both move alike are merged.
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

// merge joins axes along which two tensors both go on where the axis behind
// ends, and drops axes of length 1; one axis is left at least. by and to are
// the tensors' strides.
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

// repeated returns the strides of a dense operand of shape s along the axes of
// out, 0 where it is repeated.
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

// at returns where element i of the result finds its operands, and how many
// elements follow along the last axis, itself included.
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
