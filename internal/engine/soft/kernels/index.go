package kernels

import (
	"github.com/anekit/anekit/internal/element"
	"github.com/anekit/anekit/internal/engine/soft/internal/halves"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
)

// locator reads indices. One below 0 counts from the end; one outside of the axis is taken as its first or last
// element, so that no run leaves the memory of a tensor. With validate both are faults of the run.
type locator struct {
	op       string
	validate bool
}

// at returns element i of operand in as an index of an axis of length n.
func (l *locator) at(c *run.Call, in, i, n int) int {
	return l.place(c, integer(&c.In[in], i), n)
}

// place returns the element of an axis of length n that index k chooses.
func (l *locator) place(c *run.Call, k, n int) int {
	if l.validate && (k < 0 || k >= n) {
		c.Refuse(l.op, k, n)
	}
	if k < 0 {
		k += n
	}
	return min(max(k, 0), n-1)
}

// gatherRows copies, for each batch, each position between batch and axis, and each tuple of indices, a run of inner
// elements of x: gather and gather_nd.
func gatherRows(s *Step) (run.Runner, int) {
	a := s.Attrs.(ops.Gather)
	l := &locator{s.Op, a.Validate}
	if w := s.weights(0); w != nil {
		return newLoop(s.In[1].len(), 2*w.Cols, 1, func(c *run.Call, i, _, _ int) {
			w.Halves(c.Out[0].Half[i*w.Cols:][:w.Cols], l.at(c, 1, i, w.Rows), 0)
		}), 0
	}
	x, at := s.In[0].Shape, s.In[1].Shape
	batch, middle, tuples, depth := ops.Volume(x[:a.Batch]), 1, ops.Volume(at[a.Batch:]), 1
	first := a.Batch // of the axes that a tuple counts
	if s.Op != "gather_nd" {
		middle, first = ops.Volume(x[a.Batch:a.Axis]), a.Axis
	} else {
		depth = at[len(at)-1]
		tuples /= depth
	}
	lengths, inner := x[first:first+depth], ops.Volume(x[first+depth:])
	rows, cost := batch*middle*tuples, inner/4+2*depth
	if inner == 1 && depth == 1 {
		return l.loop(rows, cost, tuples, func(i int) (from, at int) {
			return i / tuples * lengths[0], i/tuples/middle*tuples + i%tuples
		}, lengths[0], 1, 0), 0
	}
	n := inner * element.Size(s.In[0].DType)
	return newLoop(rows, cost, 64, func(c *run.Call, lo, hi, _ int) {
		from, to := c.In[0].Raw, c.Out[0].Raw
		for i := lo; i < hi; i++ {
			at := i / tuples // batch and position
			at = l.tuple(c, at, at/middle*tuples+i%tuples, lengths)
			copy(to[i*n:][:n], from[at*n:])
		}
	}), 0
}

// tuple returns the index in x of tuple i of indices along axes of some lengths, after index at of those before them.
func (l *locator) tuple(c *run.Call, at, i int, lengths []int) int {
	for k, length := range lengths {
		at = at*length + l.at(c, 1, i*len(lengths)+k, length)
	}
	return at
}

// loop looks up n elements, of which side lie side by side. From element i of the result on, the indices begin at
// element at, and choose from element from of x on, along an axis of length elements. See lookUp.
func (l *locator) loop(n, cost, side int, start func(i int) (from, at int), length, by, step int) run.Runner {
	return newLoop(n, cost, n, func(c *run.Call, lo, hi, worker int) {
		var room [run.Chunk]int32
		for done := run.Chunk; lo < hi; {
			if done >= run.Chunk {
				if done = 0; c.Pause(worker) {
					return
				}
			}
			n := min(hi-lo, side-lo%side, run.Chunk)
			from, at := start(lo)
			indices := room[:n]
			if in := &c.In[1]; in.Ints != nil {
				indices = in.Ints[at:][:n]
			} else {
				for k := range indices {
					indices[k] = int32(integer(in, at+k))
				}
			}
			switch x, out := &c.In[0], &c.Out[0]; {
			case out.Pairs != nil:
				lookUp(l, c, out.Pairs[lo:], x.Pairs[from:], indices, length, by, step)
			case out.Quads != nil:
				lookUp(l, c, out.Quads[lo:], x.Quads[from:], indices, length, by, step)
			default:
				lookUp(l, c, out.Raw[lo:], x.Raw[from:], indices, length, by, step)
			}
			lo, done = lo+n, done+n
		}
	})
}

// lookUp sets each dst[i] to x[p*by+i*step], where p is the element of an axis of length n that at[i] chooses.
func lookUp[T uint8 | uint16 | uint32](l *locator, c *run.Call, dst, x []T, at []int32, n, by, step int) {
	dst = dst[:len(at)]
	for i, k := range at {
		p := int(k)
		if uint(p) >= uint(n) {
			p = l.place(c, p, n)
		}
		dst[i] = x[p*by+i*step]
	}
}

// alongAxis describes an axis of a tensor between outer and inner ones.
type alongAxis struct{ outer, length, inner int }

func alongOf(shape []int, axis int) alongAxis {
	if len(shape) == 0 {
		return alongAxis{1, 1, 1}
	}
	return alongAxis{ops.Volume(shape[:axis]), shape[axis], ops.Volume(shape[axis+1:])}
}

// gatherAlongAxis takes element (o, index, i) of x for each index (o, k, i).
func gatherAlongAxis(s *Step) (run.Runner, int) {
	a := s.Attrs.(ops.Gather)
	l, x, count := &locator{s.Op, a.Validate}, alongOf(s.In[0].Shape, a.Axis), alongOf(s.In[1].Shape, a.Axis).length
	side, step := x.inner, 1 // indices for elements side by side
	if side == 1 {
		side, step = count, 0 // for one row of x
	}
	return l.loop(s.Out[0].len(), 4, side, func(i int) (from, at int) {
		return i/(count*x.inner)*x.length*x.inner + i%side*step, i
	}, x.length, x.inner, step), 0
}

// scatterRows copies data and applies updates to it, one after another in the order of the indices: each rounds its
// result to the type. The quotient of integers is truncated, and 0 where the divisor is 0.
func scatterRows(s *Step) (run.Runner, int) {
	a := s.Attrs.(ops.Scatter)
	data, at := s.In[0].Shape, s.In[1].Shape
	r := &updater{locator: locator{s.Op, a.Validate}, mode: a.Mode, axis: alongOf(data, a.Axis), count: ops.Volume(at)}
	switch s.Op {
	case "scatter", "list_write", "list_scatter":
		r.lengths = data[a.Axis : a.Axis+1]
	case "scatter_along_axis":
		r.single = true
		r.count = alongOf(at, a.Axis).length
	default:
		depth := at[len(at)-1]
		r.count /= depth
		r.lengths = data[:depth]
		r.axis = alongAxis{1, ops.Volume(data[:depth]), ops.Volume(data[depth:])}
	}
	whole, _ := Copy(s)
	return &run.Sequence{whole, r}, 2 * run.Chunk
}

type updater struct {
	locator
	mode    string
	axis    alongAxis // outer, all elements that indices choose from, inner
	count   int       // updates of each element of outer and inner
	lengths []int     // of the axes that an index counts, unless single
	single  bool      // each element has indices of its own
}

// Run shares out the positions beside the axis, so that no two goroutines write one element.
func (r *updater) Run(c *run.Call) { c.Spread(r.axis.outer*r.axis.inner, 4*r.count) }

func (r *updater) Span(c *run.Call, lo, hi, worker int) {
	for lo < hi {
		outer, from := lo/r.axis.inner, lo%r.axis.inner
		n := min(hi-lo, r.axis.inner-from, run.Chunk)
		for k := range r.count {
			if k%64 == 0 && c.Pause(worker) {
				return
			}
			row := (outer*r.count + k) * r.axis.inner
			if r.single {
				for i := from; i < from+n; i++ {
					at := r.at(c, 1, row+i, r.axis.length)
					r.apply(c, (outer*r.axis.length+at)*r.axis.inner+i, row+i, 1, worker)
				}
				continue
			}
			at := r.tuple(c, 0, k, r.lengths)
			r.apply(c, (outer*r.axis.length+at)*r.axis.inner+from, row+from, n, worker)
		}
		lo += n
	}
}

// apply changes n elements of the result from element to on by those of updates from element from on.
func (r *updater) apply(c *run.Call, to, from, n, worker int) {
	out, updates := &c.Out[0], &c.In[2]
	if r.mode == ops.ScatterUpdate {
		size := out.DType.Size()
		copy(out.Raw[to*size:][:n*size], updates.Raw[from*size:])
		return
	}
	if !out.DType.Float() {
		op := intOps[scatterOps[r.mode]]
		for i := range n {
			setInteger(out, to+i, op(integer(out, to+i), integer(updates, from+i)))
		}
		return
	}
	x, y := c.Work[worker][:n], c.Work[worker][run.Chunk:run.Chunk+n]
	out.Load(x, to)
	updates.Load(y, from)
	halves.Compute(inOnePass[scatterOps[r.mode]], x, x, y)
	out.Store(x, to)
}

// scatterOps are the operators of the modes.
var scatterOps = map[string]string{ops.ScatterAdd: "add", ops.ScatterSub: "sub", ops.ScatterMul: "mul",
	ops.ScatterDiv: "real_div", ops.ScatterMax: "maximum", ops.ScatterMin: "minimum"}

// setInteger writes element i of a tensor of integers, without the bits that do not fit.
func setInteger(v *run.Vec, i, x int) {
	switch v.DType.Size() {
	case 1:
		v.Raw[i] = byte(x)
	case 2:
		v.Pairs[i] = uint16(x)
	default:
		v.Quads[i] = uint32(x)
	}
}
