package kernels

import (
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/element"
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
		return newLoop(s.In[1].len(), 2*w.Cols, func(c *run.Call, i, _ int) {
			w.Halves(c.Out[0].Half[i*w.Cols:][:w.Cols], l.at(c, 1, i, w.Rows), 0)
		}), 0
	}
	x, at := s.In[0].Shape, s.In[1].Shape
	batch, middle, tuples, depth := ops.Volume(x[:a.Batch]), 1, ops.Volume(at[a.Batch:]), 1
	first := a.Batch // of the axes that a tuple counts
	if s.Op == "gather" {
		middle, first = ops.Volume(x[a.Batch:a.Axis]), a.Axis
	} else {
		depth = at[len(at)-1]
		tuples /= depth
	}
	lengths, inner := x[first:first+depth], ops.Volume(x[first+depth:])
	rows, cost, size := batch*middle*tuples, inner/4+2*depth, element.Size(s.In[0].DType)
	if inner == 1 && depth == 1 && s.wide() {
		return &ranges{rows, cost, func(c *run.Call, lo, hi, worker int) {
			for lo < hi && !c.Pause(worker) {
				first, i := lo/tuples, lo%tuples
				n := min(hi-lo, tuples-i, halfStretch)
				l.lookUp(c, lo, first*lengths[0], c.In[1].Ints[first/middle*tuples+i:][:n], lengths[0], 1, 0)
				lo += n
			}
		}}, 0
	}
	n := inner * size
	return &ranges{rows, cost, func(c *run.Call, lo, hi, worker int) {
		from, to := c.In[0].Raw, c.Out[0].Raw
		for i := lo; i < hi; i++ {
			if i%64 == 0 && c.Pause(worker) {
				return
			}
			at := i / tuples // batch and position
			tuple := at/middle*tuples + i%tuples
			for k, length := range lengths {
				at = at*length + l.at(c, 1, tuple*depth+k, length)
			}
			copy(to[i*n:][:n], from[at*n:])
		}
	}}, 0
}

// lookUp sets each dst[i] to x[p*by+i*step], where p is the element of an axis of length n that at[i] chooses.
func lookUp[T uint16 | uint32](l *locator, c *run.Call, dst, x []T, at []int32, n, by, step int) {
	dst = dst[:len(at)]
	for i, k := range at {
		p := int(k)
		if uint(p) >= uint(n) {
			p = l.place(c, p, n)
		}
		dst[i] = x[p*by+i*step]
	}
}

// lookUp is lookUp for elements of the result from element to on, and those of x from element from on, whose size is
// 2 or 4.
func (l *locator) lookUp(c *run.Call, to, from int, at []int32, n, by, step int) {
	if c.Out[0].Pairs != nil {
		lookUp(l, c, c.Out[0].Pairs[to:], c.In[0].Pairs[from:], at, n, by, step)
	} else {
		lookUp(l, c, c.Out[0].Quads[to:], c.In[0].Quads[from:], at, n, by, step)
	}
}

// wide reports whether the elements of x have views for lookUp, and the indices are int32.
func (s *Step) wide() bool {
	size := element.Size(s.In[0].DType)
	return (size == 2 || size == 4) && s.In[1].DType == mil.Int32
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
	a, size := s.Attrs.(ops.Gather), element.Size(s.In[0].DType)
	l, x, count := &locator{s.Op, a.Validate}, alongOf(s.In[0].Shape, a.Axis), alongOf(s.In[1].Shape, a.Axis).length
	if !s.wide() {
		return newEach(s.Out[0].len(), 4, run.Chunk, func(c *run.Call, lo, hi, _ int) {
			from, to := c.In[0].Raw, c.Out[0].Raw
			for i := lo; i < hi; i++ {
				at := (i/(count*x.inner)*x.length+l.at(c, 1, i, x.length))*x.inner + i%x.inner
				copy(to[i*size:][:size], from[at*size:])
			}
		}), 0
	}
	side, step := x.inner, 1 // indices for elements side by side
	if side == 1 {
		side, step = count, 0 // for one row of x
	}
	return &ranges{s.Out[0].len(), 4, func(c *run.Call, lo, hi, worker int) {
		for done := 0; lo < hi; {
			outer, i := lo/(count*x.inner), lo%side
			n := min(hi-lo, side-i, halfStretch)
			if done += n; done >= halfStretch || n == halfStretch {
				if done = 0; c.Pause(worker) {
					return
				}
			}
			l.lookUp(c, lo, outer*x.length*x.inner+i*step, c.In[1].Ints[lo:lo+n], x.length, x.inner, step)
			lo += n
		}
	}}, 0
}

// scatterRows copies data and applies updates to it, one after another in the order of the indices: each rounds its
// result to the type. The quotient of integers is truncated, and 0 where the divisor is 0.
func scatterRows(s *Step) (run.Runner, int) {
	a := s.Attrs.(ops.Scatter)
	data, at := s.In[0].Shape, s.In[1].Shape
	r := &updater{locator: locator{s.Op, a.Validate}, mode: a.Mode, axis: alongOf(data, a.Axis), count: ops.Volume(at),
		lengths: []int{}}
	switch s.Op {
	case "scatter":
		r.lengths = data[a.Axis : a.Axis+1]
	case "scatter_along_axis":
		r.single = true
		r.count = alongOf(at, a.Axis).length
		r.lengths = data[a.Axis : a.Axis+1]
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
	lengths []int     // of the axes that an index counts
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
			at := 0
			for d, length := range r.lengths {
				at = at*length + r.at(c, 1, k*len(r.lengths)+d, length)
			}
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
		for i := range n {
			setInteger(out, to+i, changed(r.mode, integer(out, to+i), integer(updates, from+i)))
		}
		return
	}
	x, y := c.Work[worker][:n], c.Work[worker][run.Chunk:run.Chunk+n]
	out.Load(x, to)
	updates.Load(y, from)
	floatOps[scatterOps[r.mode]](x, x, y)
	out.Store(x, to)
}

// scatterOps are the operators of the modes.
var scatterOps = map[string]string{ops.ScatterAdd: "add", ops.ScatterSub: "sub", ops.ScatterMul: "mul",
	ops.ScatterDiv: "real_div", ops.ScatterMax: "maximum", ops.ScatterMin: "minimum"}

// changed combines integers.
func changed(mode string, x, y int) int {
	switch mode {
	case ops.ScatterAdd:
		return x + y
	case ops.ScatterSub:
		return x - y
	case ops.ScatterMul:
		return x * y
	case ops.ScatterMax:
		return max(x, y)
	case ops.ScatterMin:
		return min(x, y)
	}
	if y == 0 {
		return 0
	}
	return x / y
}

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
