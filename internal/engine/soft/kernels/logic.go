package kernels

import (
	"github.com/anekit/anekit/internal/element"
	"github.com/anekit/anekit/internal/engine/soft/run"
)

// logicalNot inverts truth values. A bool is one byte, true unless 0.
func logicalNot(*Step) (run.Runner, int) { return &inverter{}, 0 }

type inverter struct{}

func (r *inverter) Run(c *run.Call) { c.Spread(c.Out[0].Len(), 1) }

func (r *inverter) Span(c *run.Call, lo, hi, worker int) {
	x, out := c.In[0].Raw, c.Out[0].Raw
	for ; lo < hi && !c.Pause(worker); lo += run.Chunk {
		for i := lo; i < min(lo+run.Chunk, hi); i++ {
			out[i] = 0
			if x[i] == 0 {
				out[i] = 1
			}
		}
	}
}

// logical prepares the operators on two tensors of truth values.
func logical(s *Step) (run.Runner, int) {
	return &gate{walk: broadcast(s.Out[0].Shape, s.In[0].Shape, s.In[1].Shape), op: gates[s.Op]}, 0
}

var gates = map[string]func(x, y bool) bool{
	"logical_and": func(x, y bool) bool { return x && y },
	"logical_or":  func(x, y bool) bool { return x || y },
	"logical_xor": func(x, y bool) bool { return x != y },
}

type gate struct {
	walk walk
	op   func(x, y bool) bool
}

func (r *gate) Run(c *run.Call) { c.Spread(r.walk.total, 2) }

func (r *gate) Span(c *run.Call, lo, hi, worker int) {
	x, y, out := c.In[0].Raw, c.In[1].Raw, c.Out[0].Raw
	for lo < hi && !c.Pause(worker) {
		xat, yat, n := r.walk.at(lo)
		n = min(n, hi-lo, run.Chunk)
		for i := range n {
			out[lo+i] = truth(r.op(x[xat+i*r.walk.xstep] != 0, y[yat+i*r.walk.ystep] != 0))
		}
		lo += n
	}
}

// choose prepares select: it copies elements of a where cond is true, else of b.
func choose(s *Step) (run.Runner, int) {
	out, cond := s.Out[0].Shape, s.In[0].Shape
	return &chooser{a: broadcast(out, cond, s.In[1].Shape), b: broadcast(out, cond, s.In[2].Shape)}, 0
}

// chooser walks twice: cond with a, and cond with b.
type chooser struct{ a, b walk }

func (r *chooser) Run(c *run.Call) { c.Spread(r.a.total, r.Element()) }

func (*chooser) Element() int { return 2 }

func (r *chooser) Span(c *run.Call, lo, hi, worker int) {
	out, a, b := &c.Out[0], &c.In[1], &c.In[2]
	for lo < hi && !c.Pause(worker) {
		at, aat, n := r.a.at(lo)
		_, bat, m := r.b.at(lo)
		n = min(n, m, hi-lo, run.Chunk)
		cond := strip{at, r.a.xstep}
		switch element.Size(out.DType) {
		case 1:
			choice(out.Raw[lo:lo+n], c.In[0].Raw, a.Raw, b.Raw, cond, strip{aat, r.a.ystep}, strip{bat, r.b.ystep})
		case 2:
			choice(out.Pairs[lo:lo+n], c.In[0].Raw, a.Pairs, b.Pairs, cond, strip{aat, r.a.ystep}, strip{bat, r.b.ystep})
		default:
			choice(out.Quads[lo:lo+n], c.In[0].Raw, a.Quads, b.Quads, cond, strip{aat, r.a.ystep}, strip{bat, r.b.ystep})
		}
		lo += n
	}
}

// strip is a run of elements: where it starts, and the distance of its elements.
type strip struct{ at, step int }

func choice[T uint8 | uint16 | uint32](out []T, cond []byte, a, b []T, ci, ai, bi strip) {
	for i := range out {
		if cond[ci.at+i*ci.step] != 0 {
			out[i] = a[ai.at+i*ai.step]
		} else {
			out[i] = b[bi.at+i*bi.step]
		}
	}
}
