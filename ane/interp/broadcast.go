package interp

// walk goes through two operands in the order of the elements of their
// broadcast result. Axes along which both move alike are merged.
type walk struct {
	total        int
	dims, xs, ys []int // merged axes, strides in elements, 0 where repeated
	xstep, ystep int   // strides along the last axis: 0 or 1
}

// broadcast plans the walk for operands of shapes x and y.
func broadcast(out, x, y []int) walk {
	w := walk{total: 1}
	xs, ys := repeated(out, x), repeated(out, y)
	for i, n := range out {
		w.total *= n
		if n == 1 {
			continue
		}
		last := len(w.dims) - 1
		if last >= 0 && w.xs[last] == xs[i]*n && w.ys[last] == ys[i]*n {
			w.dims[last] *= n
			w.xs[last], w.ys[last] = xs[i], ys[i]
			continue
		}
		w.dims, w.xs, w.ys = append(w.dims, n), append(w.xs, xs[i]), append(w.ys, ys[i])
	}
	if len(w.dims) == 0 {
		w.dims, w.xs, w.ys = []int{1}, []int{0}, []int{0}
	}
	last := len(w.dims) - 1
	w.xstep, w.ystep = w.xs[last], w.ys[last]
	return w
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
