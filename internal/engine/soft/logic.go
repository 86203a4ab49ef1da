package soft

import "github.com/anekit/anekit/internal/element"

// logicalNot inverts truth values. A bool is one byte, true unless 0.
func logicalNot(*step) (runner, int) { return &inverter{}, 0 }

type inverter struct{}

func (r *inverter) run(c *call) { c.spread(c.out[0].len(), 1) }

func (r *inverter) span(c *call, lo, hi, worker int) {
	x, out := c.in[0].raw, c.out[0].raw
	for ; lo < hi && !c.pause(worker); lo += chunk {
		for i := lo; i < min(lo+chunk, hi); i++ {
			out[i] = 0
			if x[i] == 0 {
				out[i] = 1
			}
		}
	}
}

// logical prepares the operators on two tensors of truth values.
func logical(s *step) (runner, int) {
	return &gate{walk: broadcast(s.out[0].shape, s.in[0].shape, s.in[1].shape), op: gates[s.op]}, 0
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

func (r *gate) run(c *call) { c.spread(r.walk.total, 2) }

func (r *gate) span(c *call, lo, hi, worker int) {
	x, y, out := c.in[0].raw, c.in[1].raw, c.out[0].raw
	for lo < hi && !c.pause(worker) {
		xat, yat, n := r.walk.at(lo)
		n = min(n, hi-lo, chunk)
		for i := range n {
			out[lo+i] = truth(r.op(x[xat+i*r.walk.xstep] != 0, y[yat+i*r.walk.ystep] != 0))
		}
		lo += n
	}
}

// choose prepares select: it copies elements of a where cond is true, else of b.
func choose(s *step) (runner, int) {
	out, cond := s.out[0].shape, s.in[0].shape
	return &chooser{a: broadcast(out, cond, s.in[1].shape), b: broadcast(out, cond, s.in[2].shape)}, 0
}

// chooser walks twice: cond with a, and cond with b.
type chooser struct{ a, b walk }

func (r *chooser) run(c *call) { c.spread(r.a.total, r.element()) }

func (*chooser) element() int { return 2 }

func (r *chooser) span(c *call, lo, hi, worker int) {
	out, a, b := &c.out[0], &c.in[1], &c.in[2]
	for lo < hi && !c.pause(worker) {
		at, aat, n := r.a.at(lo)
		_, bat, m := r.b.at(lo)
		n = min(n, m, hi-lo, chunk)
		cond := run{at, r.a.xstep}
		switch element.Size(out.dtype) {
		case 1:
			choice(out.raw[lo:lo+n], c.in[0].raw, a.raw, b.raw, cond, run{aat, r.a.ystep}, run{bat, r.b.ystep})
		case 2:
			choice(out.pairs[lo:lo+n], c.in[0].raw, a.pairs, b.pairs, cond, run{aat, r.a.ystep}, run{bat, r.b.ystep})
		default:
			choice(out.quads[lo:lo+n], c.in[0].raw, a.quads, b.quads, cond, run{aat, r.a.ystep}, run{bat, r.b.ystep})
		}
		lo += n
	}
}

// run is a run of elements: where it starts, and the distance of its elements.
type run struct{ at, step int }

func choice[T uint8 | uint16 | uint32](out []T, cond []byte, a, b []T, ci, ai, bi run) {
	for i := range out {
		if cond[ci.at+i*ci.step] != 0 {
			out[i] = a[ai.at+i*ai.step]
		} else {
			out[i] = b[bi.at+i*bi.step]
		}
	}
}
