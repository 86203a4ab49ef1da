package kernels

import (
	"math"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/element"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
)

// known stands for operators whose results the rule computes: no step runs them.
func known(*Step) (run.Runner, int) { return &run.Sequence{}, 0 }

// constantFill repeats one element.
func constantFill(s *Step) (run.Runner, int) {
	return &filler{element: s.Attrs.(ops.Fill).Element}, 0
}

type filler struct{ element []byte }

func (r *filler) Run(c *run.Call) { c.Spread(c.Out[0].Len(), 1) }

func (r *filler) Span(c *run.Call, lo, hi, worker int) {
	const block = 1 << 16
	n := len(r.element)
	for ; lo < hi && !c.Pause(worker); lo += block {
		repeat(c.Out[0].Raw[lo*n:min(lo+block, hi)*n], r.element)
	}
}

// rangeOf counts. Each element is rounded once.
func rangeOf(s *Step) (run.Runner, int) { return &ranger{s.Attrs.(ops.Range)}, run.Chunk }

type ranger struct{ ops.Range }

func (r *ranger) Run(c *run.Call) { c.Spread(c.Out[0].Len(), 1) }

func (r *ranger) Span(c *run.Call, lo, hi, worker int) {
	out := &c.Out[0]
	for ; lo < hi && !c.Pause(worker); lo += run.Chunk {
		n := min(run.Chunk, hi-lo)
		if out.DType == mil.Int32 {
			for i := lo; i < lo+n; i++ {
				out.Ints[i] = int32(int64(r.Start) + int64(i)*int64(r.Step))
			}
			continue
		}
		d := c.Work[worker][:n]
		for i := range d {
			d[i] = narrow(out.DType, r.Start+float64(float64(lo+i)*r.Step))
		}
		out.Store(d, lo)
	}
}

// band keeps diagonals of matrices and clears the others.
func band(s *Step) (run.Runner, int) {
	shape := s.In[0].Shape
	k := len(shape)
	return &bander{Band: s.Attrs.(ops.Band), size: element.Size(s.In[0].DType), rows: shape[k-2], columns: shape[k-1]},
		0
}

type bander struct {
	ops.Band
	size, rows, columns int
}

func (r *bander) Run(c *run.Call) { c.Spread(c.Out[0].Len()/r.columns, r.columns) }

func (r *bander) Span(c *run.Call, lo, hi, worker int) {
	for i := lo; i < hi && !c.Pause(worker); i++ {
		row, from, to := i%r.rows, 0, r.columns
		if r.Lower >= 0 {
			from = min(max(row-r.Lower, 0), to)
		}
		if r.Upper >= 0 && r.Upper < r.columns {
			to = max(min(row+r.Upper+1, to), from)
		}
		src, dst := c.In[0].Raw[i*r.columns*r.size:], c.Out[0].Raw[i*r.columns*r.size:]
		clear(dst[:from*r.size])
		copy(dst[from*r.size:to*r.size], src[from*r.size:])
		clear(dst[to*r.size : r.columns*r.size])
	}
}

// oneHot writes On where an index tells, and Off elsewhere. An index outside of the new axis, a negative one too, has
// Off everywhere.
func oneHot(s *Step) (run.Runner, int) {
	r := &hot{OneHot: s.Attrs.(ops.OneHot), inner: 1}
	shape := s.Out[0].Shape
	r.depth = shape[r.Axis]
	for _, n := range shape[r.Axis+1:] {
		r.inner *= n
	}
	return r, 0
}

type hot struct {
	ops.OneHot
	depth, inner int // length of the new axis, elements after it
}

// Run spreads rows: of the new axis if it is the last, else of the axes after it.
func (r *hot) Run(c *run.Call) {
	if r.inner == 1 {
		c.Spread(c.Out[0].Len()/r.depth, r.depth/4+1)
		return
	}
	c.Spread(c.Out[0].Len()/r.inner, 2*r.inner)
}

func (r *hot) Span(c *run.Call, lo, hi, worker int) {
	n, out := len(r.On), c.Out[0].Raw
	for row := lo; row < hi && !c.Pause(worker); row++ {
		if r.inner == 1 {
			line := out[row*r.depth*n:][:r.depth*n]
			repeat(line, r.Off)
			if k := integer(&c.In[0], row); k >= 0 && k < r.depth {
				copy(line[k*n:], r.On)
			}
			continue
		}
		line, k := out[row*r.inner*n:][:r.inner*n], row%r.depth
		first := row / r.depth * r.inner
		for i := range r.inner {
			e := r.Off
			if integer(&c.In[0], first+i) == k {
				e = r.On
			}
			copy(line[i*n:], e)
		}
	}
}

// cumsum adds up the elements along an axis. The sums of floats are float64, and each is rounded once; int32 wraps
// around.
func cumsum(s *Step) (run.Runner, int) {
	a := s.Attrs.(ops.Scan)
	var axes []int
	if len(s.In[0].Shape) > 0 {
		axes = []int{a.Axis}
	}
	l := newLanes(s.In[0].Shape, axes)
	r := &scanner{Scan: a, lanes: l, rows: max(run.Chunk/l.tile, 1), dtype: s.In[0].DType}
	if r.dtype == mil.Int32 {
		return r, 0
	}
	return r, r.rows * l.tile
}

type scanner struct {
	ops.Scan
	lanes lanes
	rows  int // elements of a lane computed at a time
	dtype mil.DType
}

func (r *scanner) Run(c *run.Call) { c.Spread(r.lanes.groups, r.lanes.length*r.lanes.tile) }

func (r *scanner) Span(c *run.Call, lo, hi, worker int) {
	l := &r.lanes
	for g := lo; g < hi && !c.Pause(worker); g++ {
		base, width, _ := l.group(g)
		if r.dtype == mil.Int32 {
			r.whole(c, base, width)
			continue
		}
		var sums [maxTile]float64
		for t := range sums {
			sums[t] = math.Copysign(0, -1) // -0 + x is x, also for -0
		}
		for done := 0; done < l.length && !c.Pause(worker); done += r.rows {
			from, to := done, min(done+r.rows, l.length)
			if r.Reverse {
				from, to = l.length-to, l.length-from
			}
			m := c.Work[worker][:(to-from)*width]
			l.load(&c.In[0], m, base, width, from, to)
			for i := range to - from {
				k := i
				if r.Reverse {
					k = to - from - 1 - i
				}
				for t, x := range m[k*width:][:width] {
					before := sums[t]
					switch sums[t] += float64(x); {
					case !r.Exclusive:
						before = sums[t]
					case done == 0 && i == 0:
						before = 0 // the sum of no elements
					}
					m[k*width+t] = narrow(r.dtype, before)
				}
			}
			for j := from; j < to; {
				mem, n := l.at(base, j)
				n = min(n, to-j)
				c.Out[0].Store(m[(j-from)*width:][:n*width], mem)
				j += n
			}
		}
	}
}

// whole adds up the int32 of a group of lanes.
func (r *scanner) whole(c *run.Call, base, width int) {
	l := &r.lanes
	for t := range width {
		sum := int32(0)
		for j := range l.length {
			if r.Reverse {
				j = l.length - 1 - j
			}
			mem, _ := l.at(base+t, j)
			before := sum
			if sum += c.In[0].Ints[mem]; !r.Exclusive {
				before = sum
			}
			c.Out[0].Ints[mem] = before
		}
	}
}
