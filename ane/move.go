package ane

import (
	"fmt"
	"io"
	"slices"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/element"
	"github.com/anekit/anekit/unimem"
)

// The calls of this file copy, and return the number of bytes copied. A program that
// never calls them never copies.

// Write copies a dense row-major array of the tensor's own type (little endian) into the padded rows. Errors: ErrLength
// unless packed has Layout.PackedBytes bytes, ErrReadOnly, ErrStale. The number of bytes copied is 0 then.
func (t *Tensor) Write(packed []byte) (int, error) {
	t = orZero(t)
	if err := t.writable("write"); err != nil {
		return 0, err
	}
	return t.rows("write", len(packed), t.layout.PackedBytes(), func(row []byte, at int) error {
		copy(row, packed[at:])
		return nil
	})
}

// Read copies the rows into a dense row-major array, without padding. Errors: ErrLength unless packed has
// Layout.PackedBytes bytes, ErrStale.
func (t *Tensor) Read(packed []byte) (int, error) {
	t = orZero(t)
	return t.rows("read", len(packed), t.layout.PackedBytes(), func(row []byte, at int) error {
		copy(packed[at:], row)
		return nil
	})
}

// WriteFloat32 converts and copies one float32 for each element, row-major, as Set does. Errors: ErrLength unless src
// has one number for each element, ErrReadOnly, ErrStale.
func (t *Tensor) WriteFloat32(src []float32) (int, error) {
	t = orZero(t)
	if err := t.writable("write"); err != nil {
		return 0, err
	}
	d, size := t.layout.DType, t.layout.DType.Size()
	return t.rows("write", len(src), t.layout.Elements(), func(row []byte, at int) error {
		part := src[at/size:][:len(row)/size]
		if d == mil.FP16 {
			half, err := unimem.View[fp16.Bits](row)
			fp16.Encode(half, part)
			return err
		}
		for i, v := range part {
			element.Store(d, row[i*size:], float64(v))
		}
		return nil
	})
}

// ReadFloat32 copies and converts one float32 for each element, row-major, as At does. Errors: ErrLength unless dst has
// one number for each element, ErrStale.
func (t *Tensor) ReadFloat32(dst []float32) (int, error) {
	t = orZero(t)
	d, size := t.layout.DType, t.layout.DType.Size()
	return t.rows("read", len(dst), t.layout.Elements(), func(row []byte, at int) error {
		part := dst[at/size:][:len(row)/size]
		if d == mil.FP16 {
			half, err := unimem.View[fp16.Bits](row)
			fp16.Decode(part, half)
			return err
		}
		for i := range part {
			part[i] = float32(element.Load(d, row[i*size:]))
		}
		return nil
	})
}

// Float32s returns a copy of the elements, row-major, converted as At does. It allocates the slice; ReadFloat32 fills a
// slice of the caller. The error is ErrStale.
func (t *Tensor) Float32s() ([]float32, error) {
	t = orZero(t)
	if _, err := t.bytes("read"); err != nil {
		return nil, err
	}
	all := make([]float32, t.layout.Elements())
	_, err := t.ReadFloat32(all)
	return all, err
}

// FillFrom reads a dense row-major array of the tensor's own type (little endian) from r directly into the rows. It
// returns the number of bytes read: PackedBytes, unless r fails or ends early (ErrLength and io.ErrUnexpectedEOF). It
// reads no further byte.
func (t *Tensor) FillFrom(r io.Reader) (int, error) {
	t = orZero(t)
	if r == nil {
		return 0, &Error{Op: "fill", Name: t.layout.Name, Err: ErrLength, Detail: "the reader is nil",
			Hint: "pass an open reader"}
	}
	if err := t.writable("fill"); err != nil {
		return 0, err
	}
	want, done := t.layout.PackedBytes(), 0
	_, err := t.rows("fill", want, want, func(row []byte, _ int) error {
		n, err := io.ReadFull(r, row)
		done += n
		switch err {
		case nil:
			return nil
		case io.EOF, io.ErrUnexpectedEOF:
			return Because(ErrLength, fmt.Errorf("%w after %d of %d bytes", io.ErrUnexpectedEOF, done, want))
		}
		return err
	})
	return done, err
}

// Copy copies src to dst, which has the same shape and type; strides may differ. It
// returns the number of bytes copied. The error is ErrAlias if they share bytes; copying
// a tensor to itself does nothing.
func Copy(dst, src *Tensor) (int, error) {
	if dst == nil || src == nil {
		return 0, &Error{Op: "copy", Err: ErrUnbound, Detail: "nil tensor"}
	}
	a, b := dst.layout, src.layout
	if a.DType != b.DType || !slices.Equal(a.Shape, b.Shape) {
		return 0, &Error{Op: "copy", Name: a.Name, Err: ErrMismatch,
			Detail: fmt.Sprintf("%s%v from %s%v", a.DType, a.Shape, b.DType, b.Shape)}
	}
	if err := dst.writable("copy"); err != nil {
		return 0, err
	}
	to, err := dst.bytes("copy")
	if err != nil {
		return 0, err
	}
	from, err := src.bytes("copy")
	if err != nil {
		return 0, err
	}
	if dst.overlaps(src) {
		if dst.address() == src.address() && a.Equal(b) {
			return 0, nil
		}
		return 0, &Error{Op: "copy", Name: a.Name, Err: ErrAlias, Detail: "with " + b.Name,
			Hint: "copy through a third tensor"}
	}
	if a.Packed() && b.Packed() {
		return copy(to[:a.PackedBytes()], from), nil
	}
	n := a.RowBytes()
	if n != b.RowBytes() { // one of them has an element in each row, see NewStrided
		return copyElements(to, from, &a, &b), nil
	}
	for i := range a.Rows() {
		copy(to[a.Row(i):][:n], from[b.Row(i):])
	}
	return a.PackedBytes(), nil
}

// copyElements copies each element and returns the bytes copied.
func copyElements(to, from []byte, a, b *Layout) int {
	size := a.DType.Size()
	for i := range a.Elements() {
		at, src := a.Row(i/a.Width)+i%a.Width*size, b.Row(i/b.Width)+i%b.Width*size
		copy(to[at:at+size], from[src:])
	}
	return a.PackedBytes()
}

// rows checks the length that the caller passed, then calls move for every row with the
// row's offset in the packed array in bytes. It returns the bytes of the tensor that were
// copied.
func (t *Tensor) rows(op string, have, want int, move func(row []byte, at int) error) (int, error) {
	b, err := t.bytes(op)
	if err != nil {
		return 0, err
	}
	if have != want {
		return 0, &Error{Op: op, Name: t.layout.Name, Err: ErrLength,
			Detail: fmt.Sprintf("slice of %d for %d (shape %v)", have, want, t.layout.Shape)}
	}
	n, rows := t.layout.RowBytes(), t.layout.Rows()
	if t.layout.Packed() {
		n, rows = t.layout.PackedBytes(), 1
	}
	for i := range rows {
		at := t.layout.Row(i)
		if err := move(b[at:at+n], i*n); err != nil {
			return i * n, &Error{Op: op, Name: t.layout.Name, Err: err}
		}
	}
	return n * rows, nil
}
