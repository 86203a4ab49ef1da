package kernels

import (
	"math"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/element"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
)

// grouping finds the element of a parameter, such as a scale, that belongs to an element of the data: each has one for
// a block of elements along each axis.
type grouping struct{ dims, size, stride []int }

// newGrouping plans the grouping of a parameter with as many axes as the data.
func newGrouping(dims, shape []int) grouping {
	b := grouping{dims: dims, stride: ops.Strides(shape)}
	for i, n := range dims {
		b.size = append(b.size, n/shape[i])
	}
	return b
}

// at returns the index in the parameter for element i of the data.
func (b *grouping) at(i int) int {
	at := 0
	for d := len(b.dims) - 1; d >= 0; d-- {
		at += i % b.dims[d] / b.size[d] * b.stride[d]
		i /= b.dims[d]
	}
	return at
}

// block is how many elements of the data, from a multiple of it on, have one index in the parameter.
func (b *grouping) block() int {
	n := 1
	for d := len(b.dims) - 1; d >= 0; d-- {
		n *= b.size[d]
		if b.size[d] != b.dims[d] {
			return n
		}
	}
	return max(n, math.MaxInt32) // all elements have the same
}

// spreadAlong returns the shape of a scalar, or of a vector along an axis, with as many axes as dims.
func spreadAlong(dims, shape []int, axis int) []int {
	full := make([]int, len(dims))
	for i := range full {
		full[i] = 1
	}
	if len(shape) > 0 {
		full[axis] = shape[0]
	}
	return full
}

// rescale is the scale and the offset of each element.
type rescale struct{ scale, offset grouping }

// newRescale plans the scale and the offset of a step: operands at and at+1, the second perhaps absent.
func newRescale(s *Step, dims []int, at int) rescale {
	shape := func(p *Tensor) []int {
		if q, ok := s.Attrs.(ops.Quantization); ok {
			return spreadAlong(dims, p.Shape, q.Axis)
		}
		return p.Shape
	}
	a := rescale{scale: newGrouping(dims, shape(s.In[at]))}
	if s.In[at+1].Given {
		a.offset = newGrouping(dims, shape(s.In[at+1]))
	}
	return a
}

// at returns the scale and the offset of element i. The offset is 0 if there is none.
func (a *rescale) at(scale, offset *run.Vec, i int) (s, o float64) {
	s = scale.Value(a.scale.at(i))
	if offset.Raw != nil {
		o = offset.Value(a.offset.at(i))
	}
	return s, o
}

// quantize divides by the scale, rounds halves to even, adds the zero point and clamps.
func quantize(s *Step) (run.Runner, int) {
	a := newRescale(s, s.In[0].Shape, 1)
	return newEach(s.Out[0].len(), 8, run.Chunk, func(c *run.Call, lo, hi, worker int) {
		x, out := c.Work[worker][:hi-lo], &c.Out[0]
		c.In[0].Load(x, lo)
		for i, f := range x {
			scale, zero := a.at(&c.In[1], &c.In[2], lo+i)
			element.Store(out.DType, out.Raw[lo+i:], math.RoundToEven(float64(f)/scale)+zero)
		}
	}), run.Chunk
}

// shiftScale is scale * (x - offset), rounded once. float32 holds each x.
func shiftScale(s *Step) (run.Runner, int) {
	a, from, d := newRescale(s, s.In[0].Shape, 1), s.In[0].DType, s.Out[0].DType
	scales, offsets := a.scale.block(), a.offset.block()
	return newEach(s.Out[0].len(), 8, run.Chunk, func(c *run.Call, lo, hi, worker int) {
		y, in := c.Work[worker][:hi-lo], &c.In[0]
		if from == mil.Int8 {
			in.Load(y, lo)
		} else {
			for i := range y {
				y[i] = float32(in.Value(lo + i))
			}
		}
		for at := 0; at < len(y); {
			scale, offset := a.at(&c.In[1], &c.In[2], lo+at)
			i := lo + at
			end := min(at+scales-i%scales, at+offsets-i%offsets, len(y))
			for j, x := range y[at:end] {
				y[at+j] = narrow(d, scale*(float64(x)-offset))
			}
			at = end
		}
		c.Out[0].Store(y, lo)
	}), run.Chunk
}

// palette looks up elements: each index names an entry of the table of its group.
type palette struct {
	ops.Palette
	groups grouping
	dims   []int // of the indexes
	count  int   // entries of a table
}

func newPalette(s *Step, dims []int, lut int) palette {
	p := palette{Palette: s.Attrs.(ops.Palette), dims: dims}
	shape := s.In[lut].Shape
	if p.Packed > 0 {
		p.count = shape[0]
		return p
	}
	k := len(dims)
	p.groups, p.count = newGrouping(dims, shape[:k]), shape[k]
	return p
}

// entry is the position in the lut of an element of the entry that index names, for the index at position i.
func (p *palette) entry(i, index, part int) int {
	return (p.groups.at(i)*p.count+index&(p.count-1))*p.Vector + part
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

// bitsAt returns the number of 1 to 8 bits that is at position i among packed ones.
func bitsAt(packed []byte, i, bits int) int {
	at := i * bits
	n := int(packed[at/8])
	if at%8+bits > 8 {
		n |= int(packed[at/8+1]) << 8
	}
	return n >> (at % 8) & (1<<bits - 1)
}

// lutToDense looks up every element.
func lutToDense(s *Step) (run.Runner, int) {
	dims := s.In[0].Shape
	if s.Attrs.(ops.Palette).Packed > 0 {
		dims = nil // one table for all
	}
	p := newPalette(s, dims, 1)
	return newEach(s.Out[0].len(), 8, run.Chunk, func(c *run.Call, lo, hi, _ int) {
		for i := lo; i < hi; i++ {
			at, part := p.place(i)
			var index int
			if p.Packed > 0 {
				index = bitsAt(c.In[0].Raw, i, p.Packed)
			} else {
				index = int(c.In[0].Raw[at])
			}
			copyElement(&c.Out[0], i, &c.In[1], p.entry(at, index, part))
		}
	}), 0
}

// These operators use one goroutine: the position of an element depends on the mask before it.

// sparseToDense puts elements where the mask is set, and zeros elsewhere.
func sparseToDense(s *Step) (run.Runner, int) {
	packed := s.Attrs.(ops.Sparse).Packed
	return &ranges{1, 4 * s.Out[0].len(), func(c *run.Call, _, _, worker int) {
		data, mask, out := &c.In[0], c.In[1].Raw, &c.Out[0]
		clear(out.Raw)
		next, n := 0, data.Len()
		for i := range out.Len() {
			if i%run.Chunk == 0 && c.Pause(worker) {
				return
			}
			var set bool
			if packed {
				set = mask[i/8]>>(i%8)&1 != 0
			} else {
				set = mask[i]&1 != 0
			}
			if set && next < n { // another constexpr operator may have made the mask
				copyElement(out, i, data, next)
				next++
			}
		}
	}}, 0
}

// lutToSparse looks up the elements where the mask is set. It goes through the result in order, and reads the indexes
// of a row again for each element of their entries.
func lutToSparse(s *Step) (run.Runner, int) {
	p := newPalette(s, s.In[0].Shape, 2)
	rows, inner := ops.Volume(p.dims[:p.Axis+1]), ops.Volume(p.dims[p.Axis+1:])
	return &ranges{1, 16 * s.Out[0].len(), func(c *run.Call, _, _, worker int) {
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
	}}, 0
}

// sparseShiftScale is shiftScale of the elements where the mask is set.
func sparseShiftScale(s *Step) (run.Runner, int) {
	a, d := newRescale(s, s.In[0].Shape, 2), s.Out[1].DType
	return &ranges{1, 8 * s.Out[0].len(), func(c *run.Call, _, _, worker int) {
		mask, data, y := c.In[0].Raw, &c.In[1], c.Work[worker][:1]
		next, n := 0, data.Len()
		for i, m := range mask {
			if i%run.Chunk == 0 && c.Pause(worker) {
				return
			}
			if c.Out[0].Raw[i] = m & 1; m&1 == 0 || next >= n {
				continue
			}
			scale, offset := a.at(&c.In[2], &c.In[3], i)
			y[0] = narrow(d, scale*(data.Value(next)-offset))
			c.Out[1].Store(y, next)
			next++
		}
	}}, 1
}
