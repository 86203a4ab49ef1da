package kernels

import (
	"github.com/anekit/anekit/internal/engine/soft/internal/halves"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
)

// turner copies a box whose source is dense along another axis than its destination: matrices that change rows and
// columns, one for each position along the other axes. Their items are elements, or short runs of these.
type turner struct {
	box        box  // without the two axes
	size       int  // of an element in bytes
	unit       int  // elements of an item
	rows, cols int  // of a matrix in the source
	to, from   int  // elements between the rows of the destination and the source
	high, wide int  // matrices are turned in pieces of high x wide
	past       bool // the result is larger than the caches
}

// Sizes of a piece: 64 KiB of halves, in as many pages as a processor finds quickly. A result of pastLeast bytes is
// larger than most caches.
const (
	turnPiece  = 256
	pastHigh   = 64
	pastLeast  = 16 << 20
	turnNarrow = 16 // the longer side of a piece is longer where the other is shorter than this
	turnUnit   = 32 // bytes of an item; longer runs are quicker as rows
	turnLeast  = 16 // elements of a matrix; copying rows is quicker for fewer
)

// turned returns the runner for a merged box, or nil if it does not turn matrices.
func turned(size int, b *box) run.Runner {
	last, unit := len(b.dims)-1, 1
	if last > 1 && b.src[last] == 1 && b.dst[last] == 1 && b.dims[last]*size <= turnUnit {
		unit = b.dims[last]
		last--
	}
	if last < 1 || b.dst[last] != unit || b.src[last] == unit {
		return nil
	}
	for i := range last {
		if b.src[i] != unit || b.src[last] < b.dims[i]*unit || b.dst[i] < b.dims[last]*unit ||
			b.dims[i]*b.dims[last] < turnLeast {
			continue
		}
		t := &turner{size: size, unit: unit, rows: b.dims[last], cols: b.dims[i], from: b.src[last], to: b.dst[i],
			high: turnPiece, wide: turnPiece}
		switch narrow := min(t.rows, t.cols) < turnNarrow; {
		case unit > 1:
			t.high, t.wide = turnPiece/4, turnPiece/4
		case narrow:
			t.high, t.wide = turnPiece*turnPiece/turnNarrow, turnPiece*turnPiece/turnNarrow
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
func (t *turner) pieces() (down, across int) {
	return (t.rows + t.high - 1) / t.high, (t.cols + t.wide - 1) / t.wide
}

func (t *turner) Run(c *run.Call) {
	down, across := t.pieces()
	c.Spread(ops.Volume(t.box.dims)*down*across, min(t.rows, t.high)*min(t.cols, t.wide)*t.unit)
}

func (t *turner) Span(c *run.Call, lo, hi, worker int) {
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
