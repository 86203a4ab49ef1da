package kernels

import (
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/element"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
)

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
	return &expander{newPalette(s, dims, 1)}, 0
}

type expander struct{ palette }

func (r *expander) Run(c *run.Call) { c.Spread(c.Out[0].Len(), 8) }

func (r *expander) Span(c *run.Call, lo, hi, worker int) {
	for ; lo < hi && !c.Pause(worker); lo += run.Chunk {
		for i := lo; i < min(lo+run.Chunk, hi); i++ {
			at, part := r.place(i)
			var index int
			if r.Packed > 0 {
				index = bitsAt(c.In[0].Raw, i, r.Packed)
			} else {
				index = int(c.In[0].Raw[at])
			}
			copyElement(&c.Out[0], i, &c.In[1], r.entry(at, index, part))
		}
	}
}

// sparseToDense puts elements where the mask is set, and zeros elsewhere.
func sparseToDense(s *Step) (run.Runner, int) { return &scatterer{s.Attrs.(ops.Sparse)}, 0 }

type scatterer struct{ ops.Sparse }

// Run uses one goroutine: the position of an element depends on the mask before it.
func (r *scatterer) Run(c *run.Call) { c.Spread(1, 4*c.Out[0].Len()) }

func (r *scatterer) Span(c *run.Call, _, _, worker int) {
	data, mask, out := &c.In[0], c.In[1].Raw, &c.Out[0]
	clear(out.Raw)
	next, n := 0, data.Len()
	for i := range out.Len() {
		if i%run.Chunk == 0 && c.Pause(worker) {
			return
		}
		var set bool
		if r.Packed {
			set = mask[i/8]>>(i%8)&1 != 0
		} else {
			set = mask[i]&1 != 0
		}
		if set && next < n { // another constexpr operator may have made the mask
			copyElement(out, i, data, next)
			next++
		}
	}
}

// lutToSparse looks up the elements where the mask is set.
func lutToSparse(s *Step) (run.Runner, int) {
	return &sparseExpander{newPalette(s, s.In[0].Shape, 2)}, 0
}

type sparseExpander struct{ palette }

func (r *sparseExpander) Run(c *run.Call) { c.Spread(1, 16*c.Out[0].Len()) }

// Span goes through the result in order: it reads the indexes of a row again for each element of their entries.
func (r *sparseExpander) Span(c *run.Call, _, _, worker int) {
	mask, indexes, lut := c.In[0].Raw, c.In[1].Raw, &c.In[2]
	outer := ops.Volume(r.dims[:r.Axis])
	length, inner := r.dims[r.Axis], ops.Volume(r.dims[r.Axis+1:])
	base, next := 0, 0 // set elements before the row of inner elements, and elements written
	for row := range outer * length {
		from, set := row*inner, 0
		if from%run.Chunk < inner && c.Pause(worker) { // the first row of a chunk
			return
		}
		for part := range r.Vector {
			set = 0
			for i := range inner {
				m := mask[from+i] & 1
				c.Out[0].Raw[(row*r.Vector+part)*inner+i] = m
				if m == 0 || base+set >= len(indexes) {
					continue
				}
				copyElement(&c.Out[1], next, lut, r.entry(from+i, int(indexes[base+set]), part))
				set++
				next++
			}
		}
		base += set
	}
}

// sparseShiftScale is shiftScale of the elements where the mask is set.
func sparseShiftScale(s *Step) (run.Runner, int) {
	return &sparseScaler{newRescale(s, s.In[0].Shape, 2), s.Out[1].DType}, 1
}

type sparseScaler struct {
	rescale
	dtype mil.DType
}

func (r *sparseScaler) Run(c *run.Call) { c.Spread(1, 8*c.Out[0].Len()) }

func (r *sparseScaler) Span(c *run.Call, _, _, worker int) {
	mask, data, y := c.In[0].Raw, &c.In[1], c.Work[worker][:1]
	next, n := 0, data.Len()
	for i, m := range mask {
		if i%run.Chunk == 0 && c.Pause(worker) {
			return
		}
		if c.Out[0].Raw[i] = m & 1; m&1 == 0 || next >= n {
			continue
		}
		scale, offset := r.at(&c.In[2], &c.In[3], i)
		y[0] = narrow(r.dtype, scale*(data.Value(next)-offset))
		c.Out[1].Store(y, next)
		next++
	}
}
