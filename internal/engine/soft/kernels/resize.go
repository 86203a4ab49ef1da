package kernels

import (
	"math"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
)

// resize changes the size of the last three axes. Interpolation is float64 and rounds
// once; the nearest element is copied.
func resize(s *Step) (run.Runner, int) {
	a := s.Attrs.(ops.Resize)
	r := &resizer{mode: a.Mode, first: 3 - a.Axes, dtype: s.Out[0].DType}
	copy(r.in[:], lastThree(s.In[0].Shape))
	copy(r.out[:], lastThree(s.Out[0].Shape))
	lines := s.Out[0].len() / r.out[2]
	if a.Nearest {
		return newLoop(lines, r.out[2], lines, r.nearest), 0
	}
	for j := range min(r.out[2], mostWidth) {
		r.columns = append(r.columns, r.at(2, j))
	}
	return newLoop(lines, 4*r.out[2]+r.in[2], lines, r.interpolate), 4*r.in[2] + r.out[2]
}

// lastThree returns the last three axes of a shape, leading ones if it has fewer.
func lastThree(shape []int) []int {
	return append([]int{1, 1, 1}, shape...)[len(shape):]
}

type resizer struct {
	mode    string
	first   int // first axis that changes
	in, out [3]int
	dtype   mil.DType
	columns []spot // the places of the first elements of a line
}

// spot is a place between two elements of an axis: part of the way from lo to hi.
type spot struct {
	lo, hi int
	part   float64
}

// sampleAt returns the place of element i of m among n elements, from 0 to n-1. n need not
// be whole, and is below 1 for a box whose end is before its start.
func sampleAt(mode string, i int, n float64, m int) float64 {
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
	p := sampleAt(r.mode, i, float64(r.in[axis]), r.out[axis])
	lo := int(p)
	return spot{lo, min(lo+1, r.in[axis]-1), p - float64(lo)}
}

func (r *resizer) interpolate(c *run.Call, lo, hi, worker int) {
	work, n := c.Work[worker], r.in[2]
	line := work[4*n:][:r.out[2]]
	for i := lo; i < hi && !c.Pause(worker); i++ {
		outer := i / r.out[1] / r.out[0]
		d, h := r.at(0, i/r.out[1]%r.out[0]), r.at(1, i%r.out[1])
		rows := [4][]float32{work[:n], work[n : 2*n], work[2*n : 3*n], work[3*n : 4*n]}
		deep, high := [2]int{d.lo, d.hi}, [2]int{h.lo, h.hi}
		for k, row := range rows {
			if (k < 2 || d.part > 0) && (k%2 == 0 || h.part > 0) {
				c.In[0].Load(row, ((outer*r.in[0]+deep[k/2])*r.in[1]+high[k%2])*n)
			}
		}
		for j := range line {
			if j%run.Chunk == run.Chunk-1 && c.Pause(worker) {
				return
			}
			var w spot
			if j < len(r.columns) {
				w = r.columns[j]
			} else {
				w = r.at(2, j)
			}
			f := blend(h.part, w.of(rows[0]), w, rows[1])
			if d.part > 0 {
				f = mix(d.part, f, blend(h.part, w.of(rows[2]), w, rows[3]))
			}
			line[j] = narrow(r.dtype, f)
		}
		c.Out[0].Store(line, i*r.out[2])
	}
}

// of interpolates a row.
func (s spot) of(row []float32) float64 {
	if s.part == 0 {
		return float64(row[s.lo])
	}
	return mix(s.part, float64(row[s.lo]), float64(row[s.hi]))
}

// blend interpolates between a value and the next row, which is read if part is not 0.
func blend(part, value float64, s spot, next []float32) float64 {
	if part == 0 {
		return value
	}
	return mix(part, value, s.of(next))
}

// mix is part of the way from a to b. The conversions round each product: without them a
// compiler may fuse one with the sum, as it does for arm64, which then has other bits.
func mix(part, a, b float64) float64 { return float64(a*(1-part)) + float64(b*part) }

// nearestTo returns the element at the place of element i along an axis.
func (r *resizer) nearestTo(axis, i int) int {
	n, m := r.in[axis], r.out[axis]
	if axis < r.first {
		return i
	}
	if r.mode == ops.SampleDefault {
		return i * n / m
	}
	return int(math.Floor(sampleAt(r.mode, i, float64(n), m) + 0.5))
}

// nearest copies the nearest elements of lines lo to hi, some columns of all of them at a time.
func (r *resizer) nearest(c *run.Call, lo, hi, worker int) {
	var columns [run.Chunk]int
	for at := 0; at < r.out[2]; at += run.Chunk {
		sources := columns[:min(run.Chunk, r.out[2]-at)]
		for j := range sources {
			sources[j] = r.nearestTo(2, at+j)
		}
		if r.dtype.Size() == 2 {
			nearestLines(c, r, c.Out[0].Pairs[at:], c.In[0].Pairs, sources, lo, hi, worker)
		} else {
			nearestLines(c, r, c.Out[0].Quads[at:], c.In[0].Quads, sources, lo, hi, worker)
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
