package soft

import (
	"github.com/anekit/anekit/ane/mil/ops"
	"github.com/anekit/anekit/internal/engine/soft/internal/packed"
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
func newOperand(s *step, index, rows, cols int, flip bool) operand {
	o := operand{index: index, rows: rows, cols: cols, flip: flip}
	p := &s.in[index]
	if o.weights = s.weights(index); o.weights != nil || p.where != constant {
		return o
	}
	matrices, n := ops.Volume(p.shape)/(rows*cols), ops.Volume(p.shape)
	if p.ahead != nil {
		o.packed, o.flip = p.ahead, false
		return o
	}
	if s.decode == nil || n > *s.decode {
		return o
	}
	*s.decode -= n
	p.data.rules = s.arith.operand
	packed := make([]float32, n)
	spare := make([]float32, rows)
	for m := range matrices {
		o.copy(&p.data, packed[m*rows*cols:][:rows*cols], spare, m, 0, rows, 0, cols)
	}
	p.ahead = packed
	o.packed, o.flip = packed, false
	return o
}

// block returns rows r0 to r1 and columns c0 to c1 of a matrix, row-major: in
// dst, or in place where they are stored so. spare holds at least r1-r0.
func (o *operand) block(c *call, dst, spare []float32, matrix, r0, r1, c0, c1 int) []float32 {
	if o.packed == nil {
		o.copy(&c.in[o.index], dst, spare, matrix, r0, r1, c0, c1)
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

// expand is copy for packed weights.
func (o *operand) expand(dst, spare []float32, r0, r1, c0, c1 int) {
	w := c1 - c0
	if !o.flip {
		for r := r0; r < r1; r++ {
			o.weights.Floats(dst[(r-r0)*w:][:w], r, c0)
		}
		return
	}
	high := r1 - r0
	for ; c0+manyRows <= c1; c0 += manyRows {
		var a [manyRows][]float32
		for i := range a {
			a[i] = spare[i*high:][:high]
			o.weights.Floats(a[i], c0+i, r0)
		}
		for i := range high {
			to := (*[manyRows]float32)(dst[i*w:])
			to[0], to[1], to[2], to[3] = a[0][i], a[1][i], a[2][i], a[3][i]
			to[4], to[5], to[6], to[7] = a[4][i], a[5][i], a[6][i], a[7][i]
		}
		dst = dst[manyRows:]
	}
	for ; c0 < c1; c0++ {
		column := spare[:high]
		o.weights.Floats(column, c0, r0)
		for i, f := range column {
			dst[i*w] = f
		}
		dst = dst[1:]
	}
}

// room is the float32s of spare that block needs besides those for a row and a column.
func (o *operand) room() int {
	if o.weights != nil && o.flip {
		return manyRows * o.rows
	}
	return 0
}

// copy is block for elements in memory; it always fills dst.
func (o *operand) copy(v *vec, dst, spare []float32, matrix, r0, r1, c0, c1 int) {
	base, w := matrix*o.rows*o.cols, c1-c0
	switch {
	case o.weights != nil:
		o.expand(dst, spare, r0, r1, c0, c1)
	case o.flip:
		column := spare[:r1-r0]
		for col := c0; col < c1; col++ {
			v.load(column, base+col*o.rows+r0)
			for i, f := range column {
				dst[i*w+col-c0] = f
			}
		}
	case w == o.cols:
		v.load(dst, base+r0*o.cols)
	default:
		for r := r0; r < r1; r++ {
			v.load(dst[(r-r0)*w:][:w], base+r*o.cols+c0)
		}
	}
}
