package kernels

import (
	"strings"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/element"
	"github.com/anekit/anekit/internal/engine/soft/run"
)

// compare prepares the comparisons of two tensors of one type. Comparisons with NaN are false, except not_equal.
func compare(s *Step) (run.Runner, int) {
	w := broadcast(s.Out[0].Shape, s.In[0].Shape, s.In[1].Shape)
	if s.In[0].DType == mil.Int32 {
		op := comparison[int32](s.Op)
		return newPairs(w, 2, run.Chunk, func(c *run.Call, at int, from triple, n int) {
			op(c.Out[0].Raw[at:at+n], c.In[0].Ints[from.x:], c.In[1].Ints[from.y:], w.step.x, w.step.y)
		}), 0
	}
	op := comparison[float32](s.Op)
	return newFloats(w, 2, func(c *run.Call, at int, dst, x, y, _ []float32) {
		op(c.Out[0].Raw[at:at+len(dst)], x, y, 1, 1)
	})
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
	case "less", "less_equal":
		greater := comparison[T](strings.Replace(op, "less", "greater", 1))
		return func(out []byte, x, y []T, xstep, ystep int) { greater(out, y, x, ystep, xstep) }
	}
	differs := truth(op == "not_equal")
	return func(out []byte, x, y []T, xstep, ystep int) {
		for i := range out {
			out[i] = truth(x[i*xstep] == y[i*ystep]) ^ differs
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
	return newPairs(w, 2, run.Chunk, func(c *run.Call, at int, from triple, n int) {
		x, y, out := c.In[0].Raw[from.x:], c.In[1].Raw[from.y:], c.Out[0].Raw[at:]
		for i := range n {
			out[i] = truth(op(x[i*w.step.x] != 0, y[i*w.step.y] != 0))
		}
	}), 0
}

var gates = map[string]func(x, y bool) bool{
	"logical_and": func(x, y bool) bool { return x && y },
	"logical_or":  func(x, y bool) bool { return x || y },
	"logical_xor": func(x, y bool) bool { return x != y },
}

// choose prepares select: it copies elements of a where cond is true, else of b.
func choose(s *Step) (run.Runner, int) {
	w, size := broadcast(s.Out[0].Shape, s.In[0].Shape, s.In[1].Shape, s.In[2].Shape), element.Size(s.Out[0].DType)
	return newPairs(w, 2, run.Chunk, func(c *run.Call, at int, from triple, n int) {
		cond, out, a, b := c.In[0].Raw[from.x:], &c.Out[0], &c.In[1], &c.In[2]
		switch size {
		case 1:
			choice(out.Raw[at:at+n], cond, a.Raw[from.y:], b.Raw[from.z:], w.step)
		case 2:
			choice(out.Pairs[at:at+n], cond, a.Pairs[from.y:], b.Pairs[from.z:], w.step)
		default:
			choice(out.Quads[at:at+n], cond, a.Quads[from.y:], b.Quads[from.z:], w.step)
		}
	}), 0
}

func choice[T uint8 | uint16 | uint32](out []T, cond []byte, a, b []T, step triple) {
	for i := range out {
		if cond[i*step.x] != 0 {
			out[i] = a[i*step.y]
		} else {
			out[i] = b[i*step.z]
		}
	}
}
