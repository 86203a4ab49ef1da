package kernels

import (
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/element"
	"github.com/anekit/anekit/internal/engine/soft/run"
)

// compare prepares the comparisons of two tensors of one type. Comparisons with NaN are false, except not_equal.
func compare(s *Step) (run.Runner, int) {
	w := broadcast(s.Out[0].Shape, s.In[0].Shape, s.In[1].Shape)
	if s.In[0].DType == mil.Int32 {
		op := comparison[int32](s.Op)
		return &pairs{w, 2, run.Chunk, func(c *run.Call, at, x, y, n, _ int) {
			op(c.Out[0].Raw[at:at+n], c.In[0].Ints[x:], c.In[1].Ints[y:], w.xstep, w.ystep)
		}}, 0
	}
	op := comparison[float32](s.Op)
	return &floats{w, 2, func(c *run.Call, at int, dst, x, y []float32) {
		op(c.Out[0].Raw[at:at+len(dst)], x, y, 1, 1)
	}}, 3 * run.Chunk
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
		greater := comparison[T]("greater")
		return func(out []byte, x, y []T, xstep, ystep int) { greater(out, y, x, ystep, xstep) }
	case "less_equal":
		greater := comparison[T]("greater_equal")
		return func(out []byte, x, y []T, xstep, ystep int) { greater(out, y, x, ystep, xstep) }
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

// logical prepares the operators on two tensors of truth values.
func logical(s *Step) (run.Runner, int) {
	w, op := broadcast(s.Out[0].Shape, s.In[0].Shape, s.In[1].Shape), gates[s.Op]
	return &pairs{w, 2, run.Chunk, func(c *run.Call, at, xat, yat, n, _ int) {
		x, y, out := c.In[0].Raw, c.In[1].Raw, c.Out[0].Raw
		for i := range n {
			out[at+i] = truth(op(x[xat+i*w.xstep] != 0, y[yat+i*w.ystep] != 0))
		}
	}}, 0
}

var gates = map[string]func(x, y bool) bool{
	"logical_and": func(x, y bool) bool { return x && y },
	"logical_or":  func(x, y bool) bool { return x || y },
	"logical_xor": func(x, y bool) bool { return x != y },
}

// choose prepares select: it copies elements of a where cond is true, else of b. It walks twice: cond with a, and cond
// with b.
func choose(s *Step) (run.Runner, int) {
	out, cond := s.Out[0].Shape, s.In[0].Shape
	first, second := broadcast(out, cond, s.In[1].Shape), broadcast(out, cond, s.In[2].Shape)
	size := element.Size(s.Out[0].DType)
	return newEach(first.total, 2, run.Chunk, func(c *run.Call, lo, hi, _ int) {
		out, a, b := &c.Out[0], &c.In[1], &c.In[2]
		for lo < hi {
			at, aat, n := first.at(lo)
			_, bat, m := second.at(lo)
			n = min(n, m, hi-lo)
			cond, as, bs := strip{at, first.xstep}, strip{aat, first.ystep}, strip{bat, second.ystep}
			switch size {
			case 1:
				choice(out.Raw[lo:lo+n], c.In[0].Raw, a.Raw, b.Raw, cond, as, bs)
			case 2:
				choice(out.Pairs[lo:lo+n], c.In[0].Raw, a.Pairs, b.Pairs, cond, as, bs)
			default:
				choice(out.Quads[lo:lo+n], c.In[0].Raw, a.Quads, b.Quads, cond, as, bs)
			}
			lo += n
		}
	}), 0
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
