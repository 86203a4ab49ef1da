package kernels

import (
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/soft/run"
)

// compare prepares the comparisons of two tensors of one type. Comparisons with NaN are false, except not_equal.
func compare(s *Step) (run.Runner, int) {
	w := broadcast(s.Out[0].Shape, s.In[0].Shape, s.In[1].Shape)
	if s.In[0].DType == mil.Int32 {
		return &intComparer{walk: w, op: comparison[int32](s.Op)}, 0
	}
	return &floatComparer{walk: w, op: comparison[float32](s.Op)}, 2 * run.Chunk
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

func (r *floatComparer) Run(c *run.Call) { c.Spread(r.walk.total, 2) }

func (r *floatComparer) Span(c *run.Call, lo, hi, worker int) {
	work, out := c.Work[worker], c.Out[0].Raw
	fx := feed{room: work[:run.Chunk], v: &c.In[0], step: r.walk.xstep}
	fy := feed{room: work[run.Chunk : 2*run.Chunk], v: &c.In[1], step: r.walk.ystep}
	for lo < hi && !c.Pause(worker) {
		xat, yat, n := r.walk.at(lo)
		n = min(n, hi-lo, run.Chunk)
		r.op(out[lo:lo+n], fx.next(xat, n), fy.next(yat, n), 1, 1)
		lo += n
	}
}

type intComparer struct {
	walk walk
	op   func(out []byte, x, y []int32, xstep, ystep int)
}

func (r *intComparer) Run(c *run.Call) { c.Spread(r.walk.total, 2) }

func (r *intComparer) Span(c *run.Call, lo, hi, worker int) {
	x, y, out := c.In[0].Ints, c.In[1].Ints, c.Out[0].Raw
	for lo < hi && !c.Pause(worker) {
		xat, yat, n := r.walk.at(lo)
		n = min(n, hi-lo, run.Chunk)
		r.op(out[lo:lo+n], x[xat:], y[yat:], r.walk.xstep, r.walk.ystep)
		lo += n
	}
}
