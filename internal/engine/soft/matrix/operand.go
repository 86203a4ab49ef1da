// Package matrix has the operands of products of matrices: as they lie in memory, as rows, and in the strips of package
// gemm. The windows of a convolution are columns of a matrix too.
package matrix

import (
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft/internal/gemm"
	"github.com/anekit/anekit/internal/engine/soft/internal/packed"
	"github.com/anekit/anekit/internal/engine/soft/run"
)

// Many is the rows that become columns together.
const Many = gemm.Turned

// Depth is the rows of a flipped matrix that Strips decodes at a time, and a good number for Part.
const Depth = 256

// Operand is a batch of matrices of rows x cols. Each is dense in memory; with
// flip its rows and columns are exchanged there.
type Operand struct {
	Index      int // index of the call's input
	Rows, Cols int
	Flip       bool
	InStrips   bool            // B of a product with strips
	Decoded    []float32       // a constant's matrices, decoded once and not flipped, or in strips; else nil
	Weights    *packed.Weights // a matrix that stays packed, or nil
	paths      *[3]Path        // of matrices, rows and columns in memory unless they are dense
}

// Scattered describes input index with matrices, rows and columns anywhere.
func Scattered(index int, at [3]Path) Operand {
	o := Operand{Index: index, Rows: at[1].Len(), Cols: at[2].Len(), paths: &at}
	if o.Flip = at[1].dense() && !at[2].dense(); o.Flip {
		at[1], at[2] = at[2], at[1]
	}
	return o
}

// Block returns rows r0 to r1 and columns c0 to c1 of a matrix, row-major: in
// dst, or in place where they are stored so. spare holds at least r1-r0.
func (o *Operand) Block(c *run.Call, dst, spare []float32, matrix, r0, r1, c0, c1 int) []float32 {
	if o.Decoded == nil {
		o.Copy(&c.In[o.Index], dst, spare, matrix, r0, r1, c0, c1)
		return dst
	}
	from := o.Decoded[matrix*o.Rows*o.Cols:][:o.Rows*o.Cols]
	if c1-c0 == o.Cols {
		return from[r0*o.Cols : r1*o.Cols]
	}
	for r := r0; r < r1; r++ {
		copy(dst[(r-r0)*(c1-c0):][:c1-c0], from[r*o.Cols+c0:])
	}
	return dst
}

// apart is what lies between rows that Part decodes, so that rows of a power of two spread over the first-level cache.
const apart = 16

// PartRoom is the float32s that Part may write for some rows and columns.
func PartRoom(rows, cols int) int { return rows * (cols + apart) }

// Part returns rows r0 to r1 and columns c0 to c1 of a matrix as rows stride elements apart: in dst, or in place.
func (o *Operand) Part(c *run.Call, dst, spare []float32, matrix, r0, r1, c0, c1 int) (rows []float32, stride int) {
	at, n, v := matrix*o.Rows*o.Cols+r0*o.Cols+c0, c1-c0, &c.In[o.Index]
	switch dense := !o.Flip && o.Weights == nil && o.paths == nil; {
	case o.Decoded != nil:
		return o.Decoded[at:], o.Cols
	case dense && v.Half != nil:
		gemm.DecodeRows(dst, n+apart, gemm.Rows[fp16.Bits]{Elements: v.Half[at:], Count: r1 - r0, N: n, Stride: o.Cols})
		return dst, n + apart
	case dense && v.Single != nil:
		return v.Single[at:], o.Cols
	}
	o.Copy(v, dst[:(r1-r0)*n], spare, matrix, r0, r1, c0, c1)
	return dst, n
}

// Strips writes rows r0 to r1 and columns c0 to c1 of a matrix to dst in strips, or returns where they are, with the
// pitch of the strips. c0 begins a strip.
func (o *Operand) Strips(v *run.Vec, dst, spare []float32, matrix, r0, r1, c0, c1 int) (strips []float32, pitch int) {
	pitch = gemm.Pitch(r1 - r0)
	switch dense := o.Weights == nil && o.paths == nil; {
	case o.Decoded != nil:
		pitch = gemm.Pitch(o.Rows)
		return o.Decoded[matrix*gemm.InStrips(o.Rows, o.Cols)+c0*pitch+r0*gemm.Strip:], pitch
	case o.Flip:
		for at := c0; at < c1; at += gemm.Strip {
			end, strip := min(at+gemm.Strip, c1), dst[(at-c0)*pitch:]
			if dense && v.Half != nil {
				from := (matrix*o.Cols+at)*o.Rows + r0
				rows := gemm.Rows[fp16.Bits]{Elements: v.Half[from:], Count: end - at, N: r1 - r0, Stride: o.Rows}
				gemm.TurnStrip(strip, rows)
				if from += rows.N; r1 == o.Rows { // next are those of the strip after this
					from += (gemm.Strip - 1) * o.Rows
				}
				gemm.Fetch(v.Half[min(from, len(v.Half)):], rows)
				continue
			}
			for r := r0; r < r1; r += Depth {
				o.flipped(v, strip[(r-r0)*gemm.Strip:], spare, gemm.Strip, matrix, r, min(r+Depth, r1), at, end)
			}
		}
	case dense:
		Pack(dst, pitch, v, (matrix*o.Rows+r0)*o.Cols+c0, r1-r0, c1-c0, o.Cols)
	default:
		row := gemm.Rows[float32]{Elements: spare[:c1-c0], Count: 1, N: c1 - c0}
		for r := r0; r < r1; r++ {
			o.row(v, row.Elements, matrix, r, c0)
			gemm.PackStrips(dst, pitch, r-r0, 1, row)
		}
	}
	return dst, pitch
}

// row decodes a part of a row of a matrix in memory.
func (o *Operand) row(v *run.Vec, dst []float32, matrix, row, col int) {
	if o.Weights != nil {
		o.Weights.Floats(dst, row, col)
		return
	}
	if o.paths != nil {
		o.paths[2].Each(dst, o.paths[0].At(matrix)+o.paths[1].At(row), col, v.Load)
		return
	}
	across := o.Cols
	if o.Flip {
		across = o.Rows
	}
	v.Load(dst, matrix*o.Rows*o.Cols+row*across+col)
}

// flipped is Copy for a matrix whose rows in memory are columns, to rows width elements apart. Several become columns at
// a time where spare has room for them.
func (o *Operand) flipped(v *run.Vec, dst, spare []float32, width, matrix, r0, r1, c0, c1 int) {
	high := r1 - r0
	for at, n := c0, 0; at < c1; at += n {
		n = 1
		if at+Many <= c1 && len(spare) >= Many*high {
			n = Many
		}
		for i := range n {
			o.row(v, spare[i*high:][:high], matrix, at+i, r0)
		}
		IntoColumns(dst[at-c0:], width, spare[:n*high], high)
	}
}

// Room is the float32s of spare that Block needs besides those for a row and a column, for at most some rows.
func (o *Operand) Room(rows int) int {
	if o.Decoded == nil && o.Flip {
		return Many * min(rows, o.Rows)
	}
	return 0
}

// Copy is Block for elements in memory; it always fills dst.
func (o *Operand) Copy(v *run.Vec, dst, spare []float32, matrix, r0, r1, c0, c1 int) {
	w := c1 - c0
	switch {
	case o.Flip:
		o.flipped(v, dst, spare, w, matrix, r0, r1, c0, c1)
	case w == o.Cols && o.Weights == nil && o.paths == nil:
		v.Load(dst, matrix*o.Rows*o.Cols+r0*o.Cols)
	default:
		for r := r0; r < r1; r++ {
			o.row(v, dst[(r-r0)*w:][:w], matrix, r, c0)
		}
	}
}

// IntoColumns writes the rows of a matrix, high elements each, as columns beside each other of a matrix whose rows
// begin width elements apart.
func IntoColumns(dst []float32, width int, from []float32, high int) {
	gemm.Turn(dst, width, from, len(from)/high, high, high)
}

// Pack writes n elements of each of some rows, stride apart from element at of x on, to strips.
func Pack(dst []float32, pitch int, x *run.Vec, at, rows, n, stride int) {
	if x.Half != nil {
		gemm.PackStrips(dst, pitch, 0, 1, gemm.Rows[fp16.Bits]{Elements: x.Half[at:], Count: rows, N: n, Stride: stride})
		return
	}
	gemm.PackStrips(dst, pitch, 0, 1, gemm.Rows[float32]{Elements: x.Single[at:], Count: rows, N: n, Stride: stride})
}
