package kernels

import (
	"cmp"
	"math"
	"slices"

	"github.com/anekit/anekit/internal/element"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
)

// blockwise plans the walk over elements of a shape, and over parameters of one shape, such as scales. A parameter has
// an element for a block of elements along each axis.
func blockwise(dims []int, params ...[]int) walk {
	var cut []int
	shapes := make([][]int, len(params))
	for i, n := range dims {
		blocks := params[0][i]
		cut = append(cut, blocks, n/blocks)
		for k := range params {
			shapes[k] = append(shapes[k], blocks, 1)
		}
	}
	return broadcast(cut, append([][]int{cut}, shapes...)...)
}

// spreadAlong returns the shape of a scalar, or of a vector along an axis, with as many axes as dims.
func spreadAlong(dims, shape []int, axis int) []int {
	full := slices.Repeat([]int{1}, len(dims))
	if len(shape) > 0 {
		full[axis] = shape[0]
	}
	return full
}

// rescaling plans the walk over data, its scale and its offset: operands at and at+1, the second perhaps absent.
func rescaling(s *Step, dims []int, at int) walk {
	var params [][]int
	for _, p := range s.In[at : at+2] {
		if p.Given {
			params = append(params, p.Shape)
		}
	}
	q, ok := s.Attrs.(ops.Quantization)
	if !ok {
		return blockwise(dims, params...)
	}
	shapes := [][]int{dims}
	for _, shape := range params {
		shapes = append(shapes, spreadAlong(dims, shape, q.Axis))
	}
	return broadcast(dims, shapes...)
}

// quantize divides by the scale, rounds halves to even, adds the zero point and clamps.
func quantize(s *Step) (run.Runner, int) {
	return newFloats(rescaling(s, s.In[0].Shape, 1), 8, func(c *run.Call, at int, dst, x, y, z []float32) {
		out := &c.Out[0]
		for i, f := range x {
			q := math.RoundToEven(float64(f) / float64(y[i]))
			if z != nil {
				q += float64(z[i])
			}
			element.Store(out.DType, out.Raw[at+i:], q)
		}
	})
}

// shiftScale is scale * (x - offset), rounded once. float32 holds each x.
func shiftScale(s *Step) (run.Runner, int) {
	d := s.Out[0].DType
	return newFloats(rescaling(s, s.In[0].Shape, 1), 8, func(c *run.Call, at int, dst, x, y, z []float32) {
		for i, f := range x {
			offset := 0.0
			if z != nil {
				offset = float64(z[i])
			}
			dst[i] = narrow(d, float64(y[i])*(float64(f)-offset))
		}
		c.Out[0].Store(dst, at)
	})
}

// palette looks up elements: each index names an entry of the table of its group.
type palette struct {
	ops.Palette
	groups walk  // of the indexes and the tables
	dims   []int // of the indexes
	count  int   // entries of a table
}

func newPalette(s *Step, dims []int, lut int) palette {
	shape, k := s.In[lut].Shape, len(dims)
	return palette{s.Attrs.(ops.Palette), blockwise(dims, shape[:k]), dims, shape[k]}
}

// entry is the position in the lut of an element of the entry that index names, for the index at position i.
func (p *palette) entry(i, index, part int) int {
	group, _ := p.groups.at(i)
	return (group.y*p.count+index&(p.count-1))*p.Vector + part
}

// place splits position i of the result into the position of its index and the element of its entry.
func (p *palette) place(i int) (at, part int) {
	if p.Vector == 1 {
		return i, 0
	}
	step := ops.Volume(p.dims[p.Axis+1:])
	row := i / step
	return row/p.Vector*step + i%step, row % p.Vector
}

// copyElement copies one element bit by bit.
func copyElement(to *run.Vec, at int, from *run.Vec, i int) {
	n := element.Size(to.DType)
	copy(to.Raw[at*n:][:n], from.Raw[i*n:])
}

// lutToDense looks up every element.
func lutToDense(s *Step) (run.Runner, int) {
	dims := s.In[0].Shape
	if s.Attrs.(ops.Palette).Packed > 0 {
		dims = nil // one table for all
	}
	p, bits := newPalette(s, dims, 1), cmp.Or(s.Attrs.(ops.Palette).Packed, 8)
	return newEach(s.Out[0].len(), 8, run.Chunk, func(c *run.Call, lo, hi, _ int) {
		for i := lo; i < hi; i++ {
			at, part := p.place(i)
			copyElement(&c.Out[0], i, &c.In[1], p.entry(at, int(element.Bits(c.In[0].Raw, at, bits)), part))
		}
	}), 0
}

// These operators use one goroutine: the position of an element depends on the mask before it.

// sparseToDense puts elements where the mask is set, and zeros elsewhere.
func sparseToDense(s *Step) (run.Runner, int) {
	bits := 8
	if s.Attrs.(ops.Sparse).Packed {
		bits = 1
	}
	return newLoop(1, 4*s.Out[0].len(), 1, func(c *run.Call, _, _, worker int) {
		data, mask, out := &c.In[0], c.In[1].Raw, &c.Out[0]
		clear(out.Raw)
		next, n := 0, data.Len()
		for i := range out.Len() {
			if i%run.Chunk == 0 && c.Pause(worker) {
				return
			}
			if element.Bits(mask, i, bits)&1 != 0 && next < n { // another constexpr operator may have made the mask
				copyElement(out, i, data, next)
				next++
			}
		}
	}), 0
}

// lutToSparse looks up the elements where the mask is set. It goes through the result in order, and reads the indexes
// of a row again for each element of their entries.
func lutToSparse(s *Step) (run.Runner, int) {
	p := newPalette(s, s.In[0].Shape, 2)
	rows, inner := ops.Volume(p.dims[:p.Axis+1]), ops.Volume(p.dims[p.Axis+1:])
	return newLoop(1, 16*s.Out[0].len(), 1, func(c *run.Call, _, _, worker int) {
		mask, indexes, lut := c.In[0].Raw, c.In[1].Raw, &c.In[2]
		base, next := 0, 0 // set elements before the row of inner elements, and elements written
		for row := range rows {
			from, set := row*inner, 0
			if from%run.Chunk < inner && c.Pause(worker) { // the first row of a chunk
				return
			}
			for part := range p.Vector {
				set = 0
				for i := range inner {
					m := mask[from+i] & 1
					c.Out[0].Raw[(row*p.Vector+part)*inner+i] = m
					if m == 0 || base+set >= len(indexes) {
						continue
					}
					copyElement(&c.Out[1], next, lut, p.entry(from+i, int(indexes[base+set]), part))
					set++
					next++
				}
			}
			base += set
		}
	}), 0
}

// sparseShiftScale is shiftScale of the elements where the mask is set.
func sparseShiftScale(s *Step) (run.Runner, int) {
	w, d := rescaling(s, s.In[0].Shape, 2), s.Out[1].DType
	return newLoop(1, 8*s.Out[0].len(), 1, func(c *run.Call, _, _, worker int) {
		mask, data, y := c.In[0].Raw, &c.In[1], c.Work[worker][:1]
		next, n := 0, data.Len()
		for i, m := range mask {
			if i%run.Chunk == 0 && c.Pause(worker) {
				return
			}
			if c.Out[0].Raw[i] = m & 1; m&1 == 0 || next >= n {
				continue
			}
			from, _ := w.at(i)
			offset := 0.0
			if c.In[3].Raw != nil {
				offset = c.In[3].Value(from.z)
			}
			y[0] = narrow(d, c.In[2].Value(from.y)*(data.Value(next)-offset))
			c.Out[1].Store(y, next)
			next++
		}
	}), 1
}
