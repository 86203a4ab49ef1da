package kernels

import (
	"github.com/anekit/anekit/internal/engine/soft/internal/gemm"
	"github.com/anekit/anekit/internal/engine/soft/internal/packed"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
)

// operand is a batch of matrices of rows x cols. Each is dense in memory; with
// flip its rows and columns are exchanged there.
type operand struct {
	index      int // index of the call's input
	rows, cols int
	flip       bool
	packed     []float32       // a constant's matrices, decoded once and not flipped
	weights    *packed.Weights // a matrix that stays packed, or nil
}

// newOperand describes input index of a step. It decodes a constant ahead of
// the runs, within the budget of the program, unless an earlier step has.
func newOperand(s *Step, index, rows, cols int, flip bool) operand {
	o := operand{index: index, rows: rows, cols: cols, flip: flip}
	p := s.In[index]
	if o.weights = s.weights(index); o.weights != nil || !p.Constant {
		return o
	}
	matrices, n := ops.Volume(p.Shape)/(rows*cols), ops.Volume(p.Shape)
	if p.Ahead != nil {
		o.packed, o.flip = p.Ahead, false
		return o
	}
	if s.Decode == nil || n > *s.Decode {
		return o
	}
	*s.Decode -= n
	p.Data.Rules = s.Arith.Operand
	packed := make([]float32, n)
	spare := make([]float32, max(rows, o.room(rows)))
	for m := range matrices {
		o.copy(&p.Data, packed[m*rows*cols:][:rows*cols], spare, m, 0, rows, 0, cols)
	}
	p.Ahead = packed
	o.packed, o.flip = packed, false
	return o
}

// newRight describes the right operand of a product, which a worker decodes once for all rows of a run. It leaves a
// large constant as it is: decoded ahead it takes twice its bytes besides in each program that has it, and is no
// quicker to read.
func newRight(s *Step, index, rows, cols int, flip bool) operand {
	if p := s.In[index]; p.Constant && ops.Volume(p.Shape) >= largeWeight {
		return operand{index: index, rows: rows, cols: cols, flip: flip, weights: s.weights(index)}
	}
	return newOperand(s, index, rows, cols, flip)
}

// block returns rows r0 to r1 and columns c0 to c1 of a matrix, row-major: in
// dst, or in place where they are stored so. spare holds at least r1-r0.
func (o *operand) block(c *run.Call, dst, spare []float32, matrix, r0, r1, c0, c1 int) []float32 {
	if o.packed == nil {
		o.copy(&c.In[o.index], dst, spare, matrix, r0, r1, c0, c1)
		return dst
	}
	from := o.packed[matrix*o.rows*o.cols:][:o.rows*o.cols]
	if c1-c0 == o.cols {
		return from[r0*o.cols : r1*o.cols]
	}
	for r := r0; r < r1; r++ {
		copy(dst[(r-r0)*(c1-c0):][:c1-c0], from[r*o.cols+c0:])
	}
	return dst
}

// row decodes a part of a row of a matrix in memory.
func (o *operand) row(v *run.Vec, dst []float32, matrix, row, col int) {
	if o.weights != nil {
		o.weights.Floats(dst, row, col)
		return
	}
	across := o.cols
	if o.flip {
		across = o.rows
	}
	v.Load(dst, matrix*o.rows*o.cols+row*across+col)
}

// flipped is copy for a matrix whose rows in memory are columns. Several become columns at a time where spare has room
// for them.
func (o *operand) flipped(v *run.Vec, dst, spare []float32, matrix, r0, r1, c0, c1 int) {
	w, high := c1-c0, r1-r0
	for ; c0+manyRows <= c1 && len(spare) >= manyRows*high; c0 += manyRows {
		var a [manyRows][]float32
		for i := range a {
			a[i] = spare[i*high:][:high]
			o.row(v, a[i], matrix, c0+i, r0)
		}
		gemm.Interleave(dst, w, &a)
		dst = dst[min(manyRows, len(dst)):]
	}
	for ; c0 < c1; c0++ {
		column := spare[:high]
		o.row(v, column, matrix, c0, r0)
		for i, f := range column {
			dst[i*w] = f
		}
		dst = dst[1:]
	}
}

// room is the float32s of spare that block needs besides those for a row and a column, for at most some rows.
func (o *operand) room(rows int) int {
	if o.packed == nil && o.flip {
		return manyRows * min(rows, o.rows)
	}
	return 0
}

// copy is block for elements in memory; it always fills dst.
func (o *operand) copy(v *run.Vec, dst, spare []float32, matrix, r0, r1, c0, c1 int) {
	w := c1 - c0
	switch {
	case o.flip:
		o.flipped(v, dst, spare, matrix, r0, r1, c0, c1)
	case w == o.cols && o.weights == nil:
		v.Load(dst, matrix*o.rows*o.cols+r0*o.cols)
	default:
		for r := r0; r < r1; r++ {
			o.row(v, dst[(r-r0)*w:][:w], matrix, r, c0)
		}
	}
}
