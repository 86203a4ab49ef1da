package kernels

import (
	"github.com/anekit/anekit/internal/element"
	"github.com/anekit/anekit/internal/engine/soft/internal/halves"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
)

// box is a block of elements to copy from one dense tensor to another: the same
// count along each axis, with different strides.
type box struct {
	from, to         int // indices of the operand and the result
	dims             []int
	src, dst         []int // strides in elements; before plan nil for those of dims without gaps
	srcBase, dstBase int
}

// mover copies boxes bit by bit.
type mover struct {
	boxes []box
	size  int                   // of an element in bytes
	base  func(c *run.Call) int // in each run, of the box of a moving slice on the larger side; else nil
}

// plan merges axes along which source and destination are both dense.
func (b *box) plan() {
	if b.src == nil {
		b.src = ops.Strides(b.dims)
	}
	if b.dst == nil {
		b.dst = ops.Strides(b.dims)
	}
	dims, by := merge(b.dims, b.src, b.dst)
	b.dims, b.src, b.dst = dims, by[0], by[1]
}

// move copies boxes of the operands, which have one type.
func (s *Step) move(boxes ...box) (run.Runner, int) {
	size := element.Size(s.In[0].DType)
	for i := range boxes {
		boxes[i].plan()
	}
	if len(boxes) == 1 {
		if t := transposed(size, &boxes[0]); t != nil {
			return t, 0
		}
	}
	return &mover{boxes: boxes, size: size}, 0
}

// rows returns the number of runs along the last axis.
func (b *box) rows() int { return ops.Volume(b.dims[:len(b.dims)-1]) }

func (m *mover) Run(c *run.Call) {
	rows, elements := 0, 0
	for i := range m.boxes {
		rows += m.boxes[i].rows()
		elements += ops.Volume(m.boxes[i].dims)
	}
	c.Spread(rows, elements/max(rows, 1)/2+1)
}

// Span copies rows lo to hi, counted through all boxes.
func (m *mover) Span(c *run.Call, lo, hi, worker int) {
	for i := range m.boxes {
		b := m.boxes[i]
		switch {
		case m.base != nil && b.from == 1:
			b.dstBase = m.base(c)
		case m.base != nil:
			b.srcBase = m.base(c)
		}
		rows := b.rows()
		from, to := max(lo, 0), min(hi, rows)
		if b.even() {
			m.even(c, &b, from, to, worker)
			from = to
		}
		for r := from; r < to && !c.Pause(worker); r++ {
			m.row(c, &b, r)
		}
		lo, hi = lo-rows, hi-rows
		if hi <= 0 {
			return
		}
	}
}

// even reports whether rows are dense, and do not overlap those beside them along the axis before the last.
func (b *box) even() bool {
	last := len(b.dims) - 1
	return last > 0 && b.src[last] == 1 && b.dst[last] == 1 && b.src[last-1] >= b.dims[last] &&
		b.dst[last-1] >= b.dims[last]
}

// even copies rows lo to hi of such a box.
func (m *mover) even(c *run.Call, b *box, lo, hi, worker int) {
	last := len(b.dims) - 1
	from, to, size := c.In[b.from].Raw, c.Out[b.to].Raw, b.dims[last]*m.size
	for lo < hi && !c.Pause(worker) {
		n := min(b.dims[last-1]-lo%b.dims[last-1], hi-lo, run.Chunk)
		src, dst := b.offsets(lo)
		halves.CopyRows(to[(b.dstBase+dst)*m.size:], from[(b.srcBase+src)*m.size:], n, size, b.dst[last-1]*m.size,
			b.src[last-1]*m.size)
		lo += n
	}
}

// offsets returns those of a run along the last axis.
func (b *box) offsets(r int) (src, dst int) {
	dims := b.dims[:len(b.dims)-1]
	return offset(r, dims, b.src), offset(r, dims, b.dst)
}

// row copies one run along the last axis.
func (m *mover) row(c *run.Call, b *box, r int) {
	last := len(b.dims) - 1
	src, dst := b.offsets(r)
	src, dst = src+b.srcBase, dst+b.dstBase
	n, ss, ds := b.dims[last], b.src[last], b.dst[last]
	from, to := &c.In[b.from], &c.Out[b.to]
	if ss == 1 && ds == 1 {
		copy(to.Raw[dst*m.size:][:n*m.size], from.Raw[src*m.size:])
		return
	}
	switch m.size {
	case 1:
		stride(to.Raw, from.Raw, dst, src, ds, ss, n)
	case 2:
		stride(to.Pairs, from.Pairs, dst, src, ds, ss, n)
	default:
		stride(to.Quads, from.Quads, dst, src, ds, ss, n)
	}
}

func stride[T uint8 | uint16 | uint32](to, from []T, dst, src, ds, ss, n int) {
	if ss == 1 {
		for _, v := range from[src:][:n] {
			to[dst] = v
			dst += ds
		}
		return
	}
	for range n {
		to[dst] = from[src]
		dst += ds
		src += ss
	}
}

// transposer copies a box whose source is dense along another axis than its destination. It transposes matrices, one
// for each position along the other axes. Their items are elements, or short runs of these.
type transposer struct {
	box        box  // without the two axes
	size       int  // of an element in bytes
	unit       int  // elements of an item
	rows, cols int  // of a matrix in the source
	to, from   int  // elements between the rows of the destination and the source
	high, wide int  // matrices are transposed in pieces of high x wide
	past       bool // the result is larger than the caches
}

// Sizes of a piece: 64 KiB of halves, in as many pages as a processor finds quickly. A result of pastLeast bytes is
// larger than most caches.
const (
	transposePiece  = 256
	pastHigh        = 64
	pastLeast       = 16 << 20
	transposeNarrow = 16 // the longer side of a piece is longer where the other is shorter than this
	transposeUnit   = 32 // bytes of an item; longer runs are quicker as rows
	transposeLeast  = 16 // elements of a matrix; copying rows is quicker for fewer
)

// transposed returns the runner for a merged box, or nil if it does not transpose matrices.
func transposed(size int, b *box) run.Runner {
	last, unit := len(b.dims)-1, 1
	if last > 1 && b.src[last] == 1 && b.dst[last] == 1 && b.dims[last]*size <= transposeUnit {
		unit = b.dims[last]
		last--
	}
	if last < 1 || b.dst[last] != unit || b.src[last] == unit {
		return nil
	}
	for i := range last {
		if b.src[i] != unit || b.src[last] < b.dims[i]*unit || b.dst[i] < b.dims[last]*unit ||
			b.dims[i]*b.dims[last] < transposeLeast {
			continue
		}
		t := &transposer{size: size, unit: unit, rows: b.dims[last], cols: b.dims[i], from: b.src[last], to: b.dst[i],
			high: transposePiece, wide: transposePiece}
		switch narrow := min(t.rows, t.cols) < transposeNarrow; {
		case unit > 1:
			t.high, t.wide = transposePiece/4, transposePiece/4
		case narrow:
			t.high = transposePiece * transposePiece / transposeNarrow
			t.wide = t.high
		case size == 2 && ops.Volume(b.dims)*size >= pastLeast:
			t.high, t.wide, t.past = pastHigh, halves.FetchCols, true
		}
		t.box = box{from: b.from, to: b.to, srcBase: b.srcBase, dstBase: b.dstBase}
		for d := range last {
			if d != i {
				t.box.dims, t.box.src = append(t.box.dims, b.dims[d]), append(t.box.src, b.src[d])
				t.box.dst = append(t.box.dst, b.dst[d])
			}
		}
		return t
	}
	return nil
}

// pieces returns the pieces of a matrix along its rows and columns.
func (t *transposer) pieces() (down, across int) {
	return (t.rows + t.high - 1) / t.high, (t.cols + t.wide - 1) / t.wide
}

func (t *transposer) Run(c *run.Call) {
	down, across := t.pieces()
	c.Spread(ops.Volume(t.box.dims)*down*across, min(t.rows, t.high)*min(t.cols, t.wide)*t.unit)
}

func (t *transposer) Span(c *run.Call, lo, hi, worker int) {
	down, across := t.pieces()
	from, to := &c.In[t.box.from], &c.Out[t.box.to]
	for i := lo; i < hi && !c.Pause(worker); i++ {
		m := i / (down * across)
		r, col := i%down*t.high, i/down%across*t.wide
		src := t.box.srcBase + offset(m, t.box.dims, t.box.src) + r*t.from + col*t.unit
		dst := t.box.dstBase + offset(m, t.box.dims, t.box.dst) + col*t.to + r*t.unit
		rows, cols := min(t.high, t.rows-r), min(t.wide, t.cols-col)
		switch {
		case t.unit > 1:
			n := t.unit * t.size
			for i := range cols {
				halves.CopyRows(to.Raw[(dst+i*t.to)*t.size:], from.Raw[src*t.size+i*n:], rows, n, n, t.from*t.size)
			}
		case t.past:
			var next []uint16
			if r+t.high < t.rows {
				next = from.Pairs[src+t.high*t.from:]
			}
			halves.TransposePast(to.Pairs[dst:], from.Pairs[src:], next, rows, cols, t.to, t.from)
		case t.size == 1:
			halves.Transpose(to.Raw[dst:], from.Raw[src:], rows, cols, t.to, t.from)
		case t.size == 2:
			halves.Transpose(to.Pairs[dst:], from.Pairs[src:], rows, cols, t.to, t.from)
		default:
			halves.Transpose(to.Quads[dst:], from.Quads[src:], rows, cols, t.to, t.from)
		}
	}
}
