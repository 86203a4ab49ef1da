package spatial

import (
	"math"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/soft/internal/halves"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
)

// Resize returns the runner of an operator that changes the size of the last three axes of x, and the float32s of its
// workspace. Interpolation is float64 and rounds once; the nearest element is copied. halved tells of halves by the
// rules of the reference.
func Resize(a ops.Resize, x, result []int, d mil.DType, halved bool) (run.Runner, int) {
	r := &resizer{mode: a.Mode, first: 3 - a.Axes, dtype: d, quick: halved && quick()}
	copy(r.in[:], lastThree(x))
	copy(r.out[:], lastThree(result))
	r.lines = ops.Volume(result) / r.out[2]
	if a.Nearest {
		return nearest{r}, 0
	}
	for j := range min(r.out[2], mostWidth) {
		r.columns = append(r.columns, r.at(2, j))
	}
	return r, r.in[2] + someColumns
}

// lastThree returns the last three axes of a shape, leading ones if it has fewer.
func lastThree(shape []int) []int {
	return append([]int{1, 1, 1}, shape...)[len(shape):]
}

const (
	someColumns = 512     // that are computed together
	mostWidth   = 1 << 16 // of a line whose places are kept
)

type resizer struct {
	mode    string
	first   int // first axis that changes
	in, out [3]int
	dtype   mil.DType
	quick   bool
	lines   int
	columns []spot // the places of the first elements of a line
}

// spot is a place between two elements of an axis: part of the way from lo to hi.
type spot struct {
	lo, hi int
	part   float64
}

// SampleAt returns the place of element i of m among n elements, from 0 to n-1. n need not
// be whole, and is below 1 for a box whose end is before its start.
func SampleAt(mode string, i int, n float64, m int) float64 {
	p, f, k := 0.0, float64(i), float64(m)
	switch mode {
	case ops.SampleDefault:
		p = f * n / k
	case ops.SampleStrictAlign, ops.SampleAlign:
		if m > 1 {
			p = f * (n - 1) / (k - 1)
		} else if mode == ops.SampleAlign {
			p = (n - 1) / 2
		}
	case ops.SampleUnalign:
		p = (f+0.5)*n/k - 0.5
	case ops.SampleOffset:
		p = (f + 0.5) * max(1, n-1) / k
	}
	return min(max(p, min(n-1, 0)), max(n-1, 0))
}

// at returns the place of element i of the result along an axis.
func (r *resizer) at(axis, i int) spot {
	if axis < r.first {
		return spot{i, i, 0}
	}
	p := SampleAt(r.mode, i, float64(r.in[axis]), r.out[axis])
	lo := int(p)
	return spot{lo, min(lo+1, r.in[axis]-1), p - float64(lo)}
}

func (r *resizer) Run(c *run.Call) { c.Spread(r.lines, 2*r.out[2]+r.in[2]) }

// stretched is some columns of a line of x, interpolated across.
type stretched struct {
	line    int // of x, counted from 1
	columns [someColumns]float64
}

// Span computes lines lo to hi. It interpolates a line of x across once for all lines of the result beside it.
func (r *resizer) Span(c *run.Call, lo, hi, worker int) {
	for from := 0; from < r.out[2]; from += someColumns {
		var kept [2][2]stretched // by the last bits of the plane and of the line
		n := min(someColumns, r.out[2]-from)
		for i := lo; i < hi && !c.Pause(worker); i++ {
			outer := i / r.out[1] / r.out[0]
			d, h := r.at(0, i/r.out[1]%r.out[0]), r.at(1, i%r.out[1])
			rows := func(deep int) (a, b []float64) {
				a = r.stretch(c, &kept[deep%2][h.lo%2], (outer*r.in[0]+deep)*r.in[1]+h.lo, from, n, worker)
				if h.part > 0 {
					return a, r.stretch(c, &kept[deep%2][h.hi%2], (outer*r.in[0]+deep)*r.in[1]+h.hi, from, n, worker)
				}
				return a, a
			}
			a, b := rows(d.lo)
			if r.quick && d.part == 0 && n >= eight {
				mixHalves(c.Out[0].Pairs[i*r.out[2]+from:][:n], a, b, h.part)
				continue
			}
			deepA, deepB := a, b
			if d.part > 0 {
				deepA, deepB = rows(d.hi)
			}
			line := c.Work[worker][r.in[2]:][:n]
			for j := range line {
				line[j] = r.narrow(blend(d.part, blend(h.part, a[j], b[j]), blend(h.part, deepA[j], deepB[j])))
			}
			c.Out[0].Store(line, i*r.out[2]+from)
		}
	}
}

// column is the place of column j of the result.
func (r *resizer) column(j int) spot {
	if j < len(r.columns) {
		return r.columns[j]
	}
	return r.at(2, j)
}

// stretch returns n columns from one on, interpolated between those of a line of x.
func (r *resizer) stretch(c *run.Call, s *stretched, line, from, n, worker int) []float64 {
	if s.line == line+1 {
		return s.columns[:n]
	}
	s.line = line + 1
	first := r.column(from).lo
	x := c.Work[worker][:r.column(from+n-1).hi+1-first]
	c.In[0].Load(x, line*r.in[2]+first)
	for j := range n {
		p := r.column(from + j)
		s.columns[j] = float64(x[p.lo-first])
		if p.part > 0 {
			s.columns[j] = Mix(p.part, s.columns[j], float64(x[p.hi-first]))
		}
	}
	return s.columns[:n]
}

// mixHalves is blend of lines of eight numbers or more, rounded to halves. The last eight may overlap those before.
func mixHalves(dst []uint16, a, b []float64, part float64) {
	if part == 0 {
		part = .5 // of one number twice, which gives it
	}
	n := len(dst)
	mixLines(&dst[0], &a[0], &b[0], 1-part, part, n/eight)
	if n%eight > 0 {
		mixLines(&dst[n-eight], &a[n-eight], &b[n-eight], 1-part, part, 1)
	}
}

// narrow is a number as it is stored.
func (r *resizer) narrow(f float64) float32 {
	if r.dtype == mil.FP16 {
		return halves.ToOdd(f)
	}
	return float32(f)
}

// blend is a, or part of the way to b if that is not 0.
func blend(part, a, b float64) float64 {
	if part == 0 {
		return a
	}
	return Mix(part, a, b)
}

// Mix is part of the way from a to b. The conversions round each product: without them a
// compiler may fuse one with the sum, as it does for arm64, which then has other bits.
func Mix(part, a, b float64) float64 { return float64(a*(1-part)) + float64(b*part) }

// nearestTo returns the element at the place of element i along an axis.
func (r *resizer) nearestTo(axis, i int) int {
	n, m := r.in[axis], r.out[axis]
	if axis < r.first {
		return i
	}
	if r.mode == ops.SampleDefault {
		return i * n / m
	}
	return int(math.Floor(SampleAt(r.mode, i, float64(n), m) + 0.5))
}

// nearest is a resizer that copies elements.
type nearest struct{ *resizer }

func (r nearest) Run(c *run.Call) { c.Spread(r.lines, r.out[2]) }

// Span copies the nearest elements of lines lo to hi, some columns of all of them at a time.
func (r nearest) Span(c *run.Call, lo, hi, worker int) {
	var columns [run.Chunk]int
	for at := 0; at < r.out[2]; at += run.Chunk {
		sources := columns[:min(run.Chunk, r.out[2]-at)]
		for j := range sources {
			sources[j] = r.nearestTo(2, at+j)
		}
		if r.dtype.Size() == 2 {
			nearestLines(c, r.resizer, c.Out[0].Pairs[at:], c.In[0].Pairs, sources, lo, hi, worker)
		} else {
			nearestLines(c, r.resizer, c.Out[0].Quads[at:], c.In[0].Quads, sources, lo, hi, worker)
		}
	}
}

// nearestLines copies the elements at sources of lines of x.
func nearestLines[T uint16 | uint32](c *run.Call, r *resizer, out, x []T, sources []int, lo, hi, worker int) {
	before := -1
	for i := lo; i < hi && !c.Pause(worker); i++ {
		outer := i / r.out[1] / r.out[0]
		from := ((outer*r.in[0]+r.nearestTo(0, i/r.out[1]%r.out[0]))*r.in[1] + r.nearestTo(1, i%r.out[1])) * r.in[2]
		line, in := out[i*r.out[2]:][:len(sources)], x[from:]
		if from == before {
			copy(line, out[(i-1)*r.out[2]:])
			continue
		}
		for j, at := range sources {
			line[j] = in[at]
		}
		before = from
	}
}
