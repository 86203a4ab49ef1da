package ane

import (
	"fmt"

	"github.com/anekit/anekit/unimem"
)

// Tensor is a typed view of shared memory: a Layout over a Block, a Tape span
// or a Grid cell. It owns nothing; it dies with the memory behind it, and then
// answers ErrStale. A Tensor is safe for concurrent reads; writers arrange
// among themselves who writes what, as with a slice.
type Tensor struct {
	layout Layout
	block  *unimem.Block
	offset int         // of the first byte in block
	cell   unimem.Cell // set by OnCell
	span   []byte      // set by OnSpan
	kind   backing
}

// backing tells where a tensor's bytes come from.
type backing uint8

const (
	onBlock backing = iota
	onSpan
	onCell
)

// OnBlock lays a tensor at byte 0 of a Block. The Block may be longer than the
// layout; a shorter one is ErrShort.
func OnBlock(b *unimem.Block, l Layout) (*Tensor, error) {
	if b == nil {
		return nil, &Error{Op: "tensor", Name: l.Name, Err: ErrStale, Detail: "nil Block"}
	}
	return newTensor(&Tensor{layout: l, block: b, kind: onBlock}, b.Bytes())
}

// OnCell lays a tensor on a Grid cell. Cells of a Grid made with
// unimem.SurfacePerCell start at byte 0 of a surface of their own, which is
// what Apple's engine demands; other cells stand at an offset.
func OnCell(c unimem.Cell, l Layout) (*Tensor, error) {
	return newTensor(&Tensor{layout: l, block: c.Block(), offset: c.Offset(), cell: c, kind: onCell}, c.Bytes())
}

// OnSpan lays a tensor on a span that t handed out. A span that does not start
// at the tape's first byte is at an offset; see ErrOffset.
func OnSpan(t *unimem.Tape, span []byte, l Layout) (*Tensor, error) {
	if t == nil {
		return nil, &Error{Op: "tensor", Name: l.Name, Err: ErrStale, Detail: "nil Tape"}
	}
	offset, err := t.Offset(span)
	if err != nil {
		return nil, &Error{Op: "tensor", Name: l.Name, Err: err, Hint: "pass a span that this tape's Take returned"}
	}
	return newTensor(&Tensor{layout: l, block: t.Block(), offset: offset, span: span, kind: onSpan}, span)
}

func newTensor(t *Tensor, mem []byte) (*Tensor, error) {
	if err := t.layout.Check(); err != nil {
		return nil, err
	}
	t.layout = t.layout.clone()
	if mem == nil {
		return nil, &Error{Op: "tensor", Name: t.layout.Name, Err: ErrStale, Hint: "make the tensor before the memory is closed or given back"}
	}
	if need := t.layout.Bytes(); len(mem) < need {
		return nil, &Error{Op: "tensor", Name: t.layout.Name, Err: ErrShort,
			Detail: fmt.Sprintf("layout needs %d bytes, memory has %d", need, len(mem)),
			Hint:   fmt.Sprintf("take at least %d bytes; rows are padded to %d", need, RowAlign)}
	}
	if t.offset%RowAlign != 0 {
		return nil, &Error{Op: "tensor", Name: t.layout.Name, Err: ErrAligned,
			Detail: fmt.Sprintf("starts at byte %d", t.offset), Hint: fmt.Sprintf("take it with alignment %d", RowAlign)}
	}
	return t, nil
}

// Layout returns where the elements stand, as a copy of the caller's own.
func (t *Tensor) Layout() Layout {
	t = t.orZero()
	return t.layout.clone()
}

// Block returns the memory behind the tensor.
func (t *Tensor) Block() *unimem.Block {
	t = t.orZero()
	return t.block
}

// Offset is the tensor's first byte within its Block.
func (t *Tensor) Offset() int {
	t = t.orZero()
	return t.offset
}

// Bytes returns the tensor's own bytes, padding included, or nil when the
// memory was closed or the cell given back. It does not copy.
func (t *Tensor) Bytes() []byte {
	t = t.orZero()
	n := t.layout.Bytes()
	switch t.kind {
	case onCell:
		if b := t.cell.Bytes(); b != nil {
			return b[:n:n]
		}
	case onSpan:
		if t.block.Bytes() != nil {
			return t.span[:n:n]
		}
	default:
		if b := t.block.Bytes(); b != nil {
			return b[:n:n]
		}
	}
	return nil
}

// bytes is Bytes with the error that its callers return.
func (t *Tensor) bytes(op string) ([]byte, error) {
	b := t.Bytes()
	if b == nil {
		return nil, &Error{Op: op, Name: t.layout.Name, Err: ErrStale, Hint: "keep the memory open while a tensor views it"}
	}
	return b, nil
}

// Row returns the bytes of row i without padding, rows counted in row-major
// order. It does not copy.
func (t *Tensor) Row(i int) ([]byte, error) {
	t = t.orZero()
	b, err := t.bytes("row")
	if err != nil {
		return nil, err
	}
	if i < 0 || i >= t.layout.Rows() {
		return nil, &Error{Op: "row", Name: t.layout.Name, Err: ErrShape, Detail: fmt.Sprintf("row %d of %d", i, t.layout.Rows())}
	}
	at, n := t.layout.Row(i), t.layout.RowBytes()
	return b[at : at+n : at+n], nil
}

// overlaps reports whether two tensors share bytes.
func (t *Tensor) overlaps(u *Tensor) bool {
	return t.block == u.block && t.offset < u.offset+u.layout.Bytes() && u.offset < t.offset+t.layout.Bytes()
}

// orZero answers for nil as the zero value does: closed, without memory.
func (t *Tensor) orZero() *Tensor {
	if t == nil {
		return &Tensor{}
	}
	return t
}
