package blas

import (
	"fmt"
	"math"

	"github.com/anekit/anekit/internal/errtext"
	"github.com/anekit/anekit/unimem"
)

// align is the alignment in bytes of a matrix that Take returns: that of the matrix units.
const align = 64

// Matrix is Rows by Cols values of float32 in memory of the caller, row by row: element (r, c) is
// Data[r*Stride+c]. T swaps the two indices. The zero value is the empty matrix.
type Matrix struct {
	Data       []float32
	Rows, Cols int
	Stride     int // elements from one row in memory to the next, at least the row's length

	transposed bool
}

// Take takes a matrix without gaps from a Tape. Its address is a multiple of 64; its elements are not zeroed.
// It is valid until the Tape's Clear or Close.
//
// Errors: ErrShape (a negative dimension), unimem.ErrTapeFull, unimem.ErrSize, unimem.ErrClosed.
func Take(t *unimem.Tape, rows, cols int) (Matrix, error) {
	n, err := elements(rows, cols)
	if err != nil {
		return Matrix{}, err
	}
	if n > math.MaxInt/4 {
		return Matrix{}, unimem.ErrSize
	}
	span, err := t.Take(4*n, align)
	if err != nil {
		return Matrix{}, err
	}
	return On(span, rows, cols)
}

// On is the matrix without gaps that begins at the first byte of span: a span of a Tape, the bytes of a Cell or
// of a Block. It copies nothing.
//
// Errors: ErrShape, ErrShort, unimem.ErrInvalidAlignment (the address is not a multiple of 4).
func On(span []byte, rows, cols int) (Matrix, error) {
	n, err := elements(rows, cols)
	if err != nil {
		return Matrix{}, err
	}
	if n > len(span)/4 {
		return Matrix{}, &Error{Base: errtext.Base{Op: "matrix", Err: ErrShort,
			Hint: fmt.Sprintf("%d x %d values of 4 bytes, the span has %d bytes", rows, cols, len(span))}}
	}
	if n == 0 {
		return Matrix{Rows: rows, Cols: cols, Stride: cols}, nil
	}
	data, err := unimem.View[float32](span[:4*n])
	if err != nil {
		return Matrix{}, err
	}
	return Matrix{Data: data, Rows: rows, Cols: cols, Stride: cols}, nil
}

func elements(rows, cols int) (int, error) {
	switch {
	case rows < 0 || cols < 0:
		return 0, &Error{Base: errtext.Base{Op: "matrix", Err: ErrShape,
			Hint: fmt.Sprintf("%d x %d: neither may be negative", rows, cols)}}
	case cols > 0 && rows > math.MaxInt/cols:
		return 0, &Error{Base: errtext.Base{Op: "matrix", Err: ErrShape, Hint: fmt.Sprintf("%d x %d overflows", rows,
			cols)}}
	}
	return rows * cols, nil
}

// T is the transposed matrix on the same memory.
func (m Matrix) T() Matrix {
	m.Rows, m.Cols, m.transposed = m.Cols, m.Rows, !m.transposed
	return m
}

// At is the element in row r and column c.
func (m Matrix) At(r, c int) float32 {
	if m.transposed {
		r, c = c, r
	}
	return m.Data[r*m.Stride+c]
}

// stored returns the number and length of the rows in memory.
func (m Matrix) stored() (rows, length int) {
	if m.transposed {
		return m.Cols, m.Rows
	}
	return m.Rows, m.Cols
}

// check refuses what the library would read outside of Data, or cannot express.
func (m Matrix) check(what string) error {
	fault := func(kind error, format string, args ...any) error {
		return &Error{Base: errtext.Base{Op: "product", Err: kind, Hint: fmt.Sprintf(format, args...)}, What: what}
	}
	rows, length := m.stored()
	switch {
	case rows < 0 || length < 0:
		return fault(ErrShape, "%d x %d: neither may be negative", m.Rows, m.Cols)
	case rows > math.MaxInt32 || length > math.MaxInt32 || m.Stride > math.MaxInt32:
		return fault(ErrShape, "%d x %d with stride %d: the library counts with 32 bits", m.Rows, m.Cols, m.Stride)
	case rows == 0 || length == 0:
		return nil
	case m.Stride < length:
		return fault(ErrShort, "stride %d, a row has %d elements", m.Stride, length)
	case (rows-1)*m.Stride+length > len(m.Data):
		return fault(ErrShort, "%d rows of %d elements with stride %d need %d, Data has %d", rows, length, m.Stride,
			(rows-1)*m.Stride+length, len(m.Data))
	}
	return nil
}
