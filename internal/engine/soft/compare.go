package soft

import "github.com/anekit/anekit/ane/mil"

// compare prepares the comparisons of two tensors of one type. Comparisons with NaN are false, except not_equal.
func compare(s *step) (runner, int) {
	w := broadcast(s.out[0].shape, s.in[0].shape, s.in[1].shape)
	if s.in[0].dtype == mil.Int32 {
		return &intComparer{walk: w, op: comparison[int32](s.op)}, 0
	}
	return &floatComparer{walk: w, op: comparison[float32](s.op)}, 2 * chunk
}

func comparison[T float32 | int32](op string) func(x, y T) bool {
	switch op {
	case "greater":
		return func(x, y T) bool { return x > y }
	case "greater_equal":
		return func(x, y T) bool { return x >= y }
	case "less":
		return func(x, y T) bool { return x < y }
	case "less_equal":
		return func(x, y T) bool { return x <= y }
	case "equal":
		return func(x, y T) bool { return x == y }
	}
	return func(x, y T) bool { return x != y }
}

// truth is the byte of a bool.
func truth(b bool) byte {
	if b {
		return 1
	}
	return 0
}

type floatComparer struct {
	walk walk
	op   func(x, y float32) bool
}

func (r *floatComparer) run(c *call) { c.spread(r.walk.total, 2) }

func (r *floatComparer) span(c *call, lo, hi, worker int) {
	work, out := c.work[worker], c.out[0].raw
	fx := feed{room: work[:chunk], v: &c.in[0], step: r.walk.xstep, at: -1}
	fy := feed{room: work[chunk : 2*chunk], v: &c.in[1], step: r.walk.ystep, at: -1}
	for lo < hi && !c.stopped() {
		xat, yat, n := r.walk.at(lo)
		n = min(n, hi-lo, chunk)
		x, y := fx.next(xat, n), fy.next(yat, n)
		for i := range n {
			out[lo+i] = truth(r.op(x[i], y[i]))
		}
		lo += n
	}
}

type intComparer struct {
	walk walk
	op   func(x, y int32) bool
}

func (r *intComparer) run(c *call) { c.spread(r.walk.total, 2) }

func (r *intComparer) span(c *call, lo, hi, _ int) {
	x, y, out := c.in[0].ints, c.in[1].ints, c.out[0].raw
	for lo < hi && !c.stopped() {
		xat, yat, n := r.walk.at(lo)
		n = min(n, hi-lo, chunk)
		for i := range n {
			out[lo+i] = truth(r.op(x[xat+i*r.walk.xstep], y[yat+i*r.walk.ystep]))
		}
		lo += n
	}
}
