package soft

import (
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/element"
	"github.com/anekit/anekit/internal/ops"
)

// palette looks up elements: each index names an entry of the table of its group.
type palette struct {
	ops.Palette
	groups grouping
	dims   []int // of the indexes
	count  int   // entries of a table
}

func newPalette(s *step, dims []int, lut int) palette {
	p := palette{Palette: s.attrs.(ops.Palette), dims: dims}
	shape := s.in[lut].shape
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
func copyElement(to *vec, at int, from *vec, i int) {
	n := element.Size(to.dtype)
	copy(to.raw[at*n:][:n], from.raw[i*n:])
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
func lutToDense(s *step) (runner, int) {
	dims := s.in[0].shape
	if s.attrs.(ops.Palette).Packed > 0 {
		dims = nil // one table for all
	}
	return &expander{newPalette(s, dims, 1)}, 0
}

type expander struct{ palette }

func (r *expander) run(c *call) { c.spread(c.out[0].len(), 8) }

func (r *expander) span(c *call, lo, hi, worker int) {
	for ; lo < hi && !c.pause(worker); lo += chunk {
		for i := lo; i < min(lo+chunk, hi); i++ {
			at, part := r.place(i)
			var index int
			if r.Packed > 0 {
				index = bitsAt(c.in[0].raw, i, r.Packed)
			} else {
				index = int(c.in[0].raw[at])
			}
			copyElement(&c.out[0], i, &c.in[1], r.entry(at, index, part))
		}
	}
}

// sparseToDense puts elements where the mask is set, and zeros elsewhere.
func sparseToDense(s *step) (runner, int) { return &scatterer{s.attrs.(ops.Sparse)}, 0 }

type scatterer struct{ ops.Sparse }

// run uses one goroutine: the position of an element depends on the mask before it.
func (r *scatterer) run(c *call) { c.spread(1, 4*c.out[0].len()) }

func (r *scatterer) span(c *call, _, _, worker int) {
	data, mask, out := &c.in[0], c.in[1].raw, &c.out[0]
	clear(out.raw)
	next, n := 0, data.len()
	for i := range out.len() {
		if i%chunk == 0 && c.pause(worker) {
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
func lutToSparse(s *step) (runner, int) {
	return &sparseExpander{newPalette(s, s.in[0].shape, 2)}, 0
}

type sparseExpander struct{ palette }

func (r *sparseExpander) run(c *call) { c.spread(1, 16*c.out[0].len()) }

// span goes through the result in order: it reads the indexes of a row again for each element of their entries.
func (r *sparseExpander) span(c *call, _, _, worker int) {
	mask, indexes, lut := c.in[0].raw, c.in[1].raw, &c.in[2]
	outer := ops.Volume(r.dims[:r.Axis])
	length, inner := r.dims[r.Axis], ops.Volume(r.dims[r.Axis+1:])
	base, next := 0, 0 // set elements before the row of inner elements, and elements written
	for row := range outer * length {
		from, set := row*inner, 0
		if from%chunk < inner && c.pause(worker) { // the first row of a chunk
			return
		}
		for part := range r.Vector {
			set = 0
			for i := range inner {
				m := mask[from+i] & 1
				c.out[0].raw[(row*r.Vector+part)*inner+i] = m
				if m == 0 || base+set >= len(indexes) {
					continue
				}
				copyElement(&c.out[1], next, lut, r.entry(from+i, int(indexes[base+set]), part))
				set++
				next++
			}
		}
		base += set
	}
}

// sparseShiftScale is shiftScale of the elements where the mask is set.
func sparseShiftScale(s *step) (runner, int) {
	return &sparseScaler{newRescale(s, s.in[0].shape, 2), s.out[1].dtype}, 1
}

type sparseScaler struct {
	rescale
	dtype mil.DType
}

func (r *sparseScaler) run(c *call) { c.spread(1, 8*c.out[0].len()) }

func (r *sparseScaler) span(c *call, _, _, worker int) {
	mask, data, y := c.in[0].raw, &c.in[1], c.work[worker][:1]
	next, n := 0, data.len()
	for i, m := range mask {
		if i%chunk == 0 && c.pause(worker) {
			return
		}
		if c.out[0].raw[i] = m & 1; m&1 == 0 || next >= n {
			continue
		}
		scale, offset := r.at(&c.in[2], &c.in[3], i)
		y[0] = narrow(r.dtype, scale*(data.value(next)-offset))
		c.out[1].store(y, next)
		next++
	}
}
