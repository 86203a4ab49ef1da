package ane

import (
	"fmt"
	"iter"

	"github.com/anekit/anekit/unimem"
)

// Tensor is a typed view of shared memory: a Layout over a Block, a Tape span
// or a Grid cell, or a Slice of such a view. It owns nothing; it dies with the
// memory behind it, and then answers ErrStale. A Tensor is safe for concurrent reads; writers arrange
// among themselves who writes what, as with a slice.
type Tensor struct {
	layout Layout
	block  *unimem.Block
	offset int // of the first byte in block
	at     int // of the first byte in the Block, cell or span; not 0 for slices
	size   int // bytes of memory that are the tensor's
	kind   backing
	cell   unimem.Cell // set by OnCell

	tape       *unimem.Tape // set by OnSpan, likewise
	span       []byte
	generation uint64 // of tape when the tensor was made

	fault *Error // what the calls of a tensor that never was answer
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

// OnSpan lays a tensor on a span that t handed out. The tensor is stale, as one on a
// cell that was given back, once the tape is cleared or closed: it answers ErrStale, and
// so do Bind and the evaluations of requests that hold it. A span that was taken before
// an earlier Clear is refused unless the same bytes were taken again since.
//
// A span that does not start at the tape's first byte is at an offset, and most engines
// read every surface from byte 0. Where Info.Offsets is true it can be bound: see
// engine.AllowOffsets. Otherwise tensors on tapes are for other uses than Bind, which
// refuses them with ErrOffset.
func OnSpan(t *unimem.Tape, span []byte, l Layout) (*Tensor, error) {
	if t == nil {
		return nil, &Error{Op: "tensor", Name: l.Name, Err: ErrStale, Detail: "nil Tape"}
	}
	generation := t.Generation()
	offset, err := t.Offset(span)
	if err != nil {
		return nil, &Error{Op: "tensor", Name: l.Name, Err: err, Hint: "pass a span that this tape's Take returned"}
	}
	if offset+len(span) > t.Used() {
		return nil, &Error{Op: "tensor", Name: l.Name, Err: ErrStale, Detail: "the tape was cleared since it handed the span out",
			Hint: "make the tensor before the tape is cleared"}
	}
	return newTensor(&Tensor{layout: l, block: t.Block(), offset: offset, tape: t, span: span, generation: generation, kind: onSpan}, span)
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
	t.size = t.layout.Bytes()
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
// memory was closed, the cell given back or the tape cleared. It does not copy.
func (t *Tensor) Bytes() []byte {
	t = t.orZero()
	mem := t.memory()
	if mem == nil {
		return nil
	}
	end := t.at + t.size
	return mem[t.at:end:end]
}

// memory is the whole Block, cell or span, nil when it is gone.
func (t *Tensor) memory() []byte {
	switch {
	case t.kind == onCell:
		return t.cell.Bytes()
	case t.kind != onSpan:
		return t.block.Bytes()
	case t.block.Bytes() == nil || t.tape.Generation() != t.generation:
		return nil
	}
	return t.span
}

// bytes is Bytes with the error that its callers return.
func (t *Tensor) bytes(op string) ([]byte, error) {
	if t.fault != nil {
		return nil, t.fault
	}
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

// Rows goes through the rows in row-major order: the bytes of each without padding, in
// place. unimem.View gives them the type of their elements. It ends early when the memory
// goes meanwhile, and yields nothing when it was gone before; Bytes tells that by nil.
func (t *Tensor) Rows() iter.Seq[[]byte] {
	t = t.orZero()
	return func(yield func([]byte) bool) {
		n := t.layout.RowBytes()
		for i := range t.layout.Rows() {
			b := t.Bytes()
			if b == nil {
				return
			}
			at := t.layout.Row(i)
			if !yield(b[at : at+n : at+n]) {
				return
			}
		}
	}
}

// overlaps reports whether the bytes from the first to the last of two tensors meet.
func (t *Tensor) overlaps(u *Tensor) bool {
	return t.block == u.block && t.offset < u.offset+u.size && u.offset < t.offset+t.size
}

// orZero answers for nil as the zero value does: closed, without memory.
func (t *Tensor) orZero() *Tensor {
	if t == nil {
		return &Tensor{}
	}
	return t
}
