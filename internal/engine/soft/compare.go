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

// comparison returns a function that writes the truth of x[i*xstep] op y[i*ystep] for each byte of out.
func comparison[T float32 | int32](op string) func(out []byte, x, y []T, xstep, ystep int) {
	switch op {
	case "greater":
		return func(out []byte, x, y []T, xstep, ystep int) {
			for i := range out {
				out[i] = truth(x[i*xstep] > y[i*ystep])
			}
		}
	case "greater_equal":
		return func(out []byte, x, y []T, xstep, ystep int) {
			for i := range out {
				out[i] = truth(x[i*xstep] >= y[i*ystep])
			}
		}
	case "less":
		return func(out []byte, x, y []T, xstep, ystep int) {
			for i := range out {
				out[i] = truth(x[i*xstep] < y[i*ystep])
			}
		}
	case "less_equal":
		return func(out []byte, x, y []T, xstep, ystep int) {
			for i := range out {
				out[i] = truth(x[i*xstep] <= y[i*ystep])
			}
		}
	case "equal":
		return func(out []byte, x, y []T, xstep, ystep int) {
			for i := range out {
				out[i] = truth(x[i*xstep] == y[i*ystep])
			}
		}
	}
	return func(out []byte, x, y []T, xstep, ystep int) {
		for i := range out {
			out[i] = truth(x[i*xstep] != y[i*ystep])
		}
	}
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
	op   func(out []byte, x, y []float32, xstep, ystep int)
}

func (r *floatComparer) run(c *call) { c.spread(r.walk.total, 2) }

func (r *floatComparer) span(c *call, lo, hi, worker int) {
	work, out := c.work[worker], c.out[0].raw
	fx := feed{room: work[:chunk], v: &c.in[0], step: r.walk.xstep}
	fy := feed{room: work[chunk : 2*chunk], v: &c.in[1], step: r.walk.ystep}
	for lo < hi && !c.pause(worker) {
		xat, yat, n := r.walk.at(lo)
		n = min(n, hi-lo, chunk)
		r.op(out[lo:lo+n], fx.next(xat, n), fy.next(yat, n), 1, 1)
		lo += n
	}
}

type intComparer struct {
	walk walk
	op   func(out []byte, x, y []int32, xstep, ystep int)
}

func (r *intComparer) run(c *call) { c.spread(r.walk.total, 2) }

func (r *intComparer) span(c *call, lo, hi, worker int) {
	x, y, out := c.in[0].ints, c.in[1].ints, c.out[0].raw
	for lo < hi && !c.pause(worker) {
		xat, yat, n := r.walk.at(lo)
		n = min(n, hi-lo, chunk)
		r.op(out[lo:lo+n], x[xat:], y[yat:], r.walk.xstep, r.walk.ystep)
		lo += n
	}
}
