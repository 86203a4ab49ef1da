package ane

import (
	"fmt"
	"iter"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/unimem"
)

// Tensor is a typed view of shared memory: a Layout over a Block, a Tape span or a Grid
// cell, or a Slice of such a view. It does not own its memory; after that is closed,
// returned or cleared, calls return ErrStale. Concurrent reads are safe; writers have to
// synchronize, as with a slice.
type Tensor struct {
	layout Layout
	block  *unimem.Block
	offset int // offset of the first byte in block
	at     int // offset of the first byte in the Block, cell or span; may be above 0 for slices
	size   int // size of the tensor's memory in bytes
	kind   backing
	cell   unimem.Cell // set by OnCell

	tape       *unimem.Tape // set by OnSpan, likewise
	span       []byte
	generation uint64 // of tape when the tensor was made

	fault *Error // returned by every call of a tensor with an unknown name
}

// backing is the kind of a tensor's memory.
type backing uint8

const (
	onBlock backing = iota
	onSpan
	onCell
)

// OnBlock makes a tensor at byte 0 of a Block. The Block may be longer than the
// layout; a shorter one is ErrShort.
func OnBlock(b *unimem.Block, l Layout) (*Tensor, error) { return OnRange(b, 0, l) }

// OnRange makes a tensor at byte offset of a Block. The offset is a multiple of RowAlign; otherwise
// the error is ErrAligned. A tensor after byte 0 can be bound only if Info.Offsets is true,
// see OnSpan. The error is ErrShort if the layout needs more bytes than follow.
func OnRange(b *unimem.Block, offset int, l Layout) (*Tensor, error) {
	mem := b.Bytes()
	if mem != nil {
		if offset < 0 || offset > len(mem) {
			return nil, &Error{Op: "tensor", Name: l.Name, Err: ErrShort,
				Detail: fmt.Sprintf("byte %d of a Block of %d", offset, len(mem)), Hint: "begin inside the Block"}
		}
		mem = mem[offset:]
	}
	return newTensor(&Tensor{layout: l, block: b, offset: offset, at: offset, kind: onBlock}, mem, l.Bytes)
}

// OnMemory makes a tensor at byte 0 of a Block, like OnBlock, but the Block may end with the last element, without the
// padding after it. It is for memory of another library, which unimem.AdoptMemory makes a Block of. Bind refuses the
// tensor with ErrShort if the program's layout needs more bytes.
func OnMemory(b *unimem.Block, l Layout) (*Tensor, error) {
	return newTensor(&Tensor{layout: l, block: b, kind: onBlock}, b.Bytes(), l.extent)
}

// OnCell makes a tensor on a Grid cell. A cell of a Grid with unimem.SurfacePerCell has its own surface and starts at
// byte 0 of it, as Apple's engine requires; other cells are at an offset. Errors: ErrStale for a cell that was
// returned, ErrShort (the cell is shorter than the layout), ErrAligned, and ErrShape or ErrType for a Layout that no
// call of this package made.
func OnCell(c unimem.Cell, l Layout) (*Tensor, error) {
	return newTensor(&Tensor{layout: l, block: c.Block(), offset: c.Offset(), cell: c, kind: onCell}, c.Bytes(),
		l.Bytes)
}

// OnSpan makes a tensor on a span that t.Take returned. After the tape is cleared or
// closed the tensor is stale: its calls, Bind, and runs of requests that hold it return
// ErrStale. OnSpan refuses a span of before the last Clear, unless the same bytes were
// taken again.
//
// Most engines read every surface from byte 0, where each span of a tape with unimem.SurfacePerSpan starts. A span at an
// offset can be bound only if Info.Offsets is true, see engine.AllowOffsets; otherwise Bind returns ErrOffset.
func OnSpan(t *unimem.Tape, span []byte, l Layout) (*Tensor, error) {
	if t == nil {
		return nil, &Error{Op: "tensor", Name: l.Name, Err: ErrStale, Detail: "nil Tape"}
	}
	generation := t.Generation()
	block, offset, err := t.Place(span)
	if err != nil {
		return nil, &Error{Op: "tensor", Name: l.Name, Err: err, Hint: "pass a span that this tape's Take returned"}
	}
	if !t.Taken(span) {
		return nil, &Error{Op: "tensor", Name: l.Name, Err: ErrStale,
			Detail: "the tape was cleared after it returned the span",
			Hint:   "make the tensor before the tape is cleared"}
	}
	return newTensor(&Tensor{layout: l, block: block, offset: offset, tape: t, span: span, generation: generation,
		kind: onSpan}, span, l.Bytes)
}

// newTensor checks a tensor on memory of at least as many bytes as least returns.
func newTensor(t *Tensor, mem []byte, least func() int) (*Tensor, error) {
	if err := t.layout.Check(); err != nil {
		return nil, err
	}
	t.layout = t.layout.clone()
	if mem == nil {
		return nil, &Error{Op: "tensor", Name: t.layout.Name, Err: ErrStale,
			Hint: "make the tensor before the memory is closed or returned"}
	}
	if need := least(); len(mem) < need {
		return nil, &Error{Op: "tensor", Name: t.layout.Name, Err: ErrShort,
			Detail: fmt.Sprintf("layout needs %d bytes, memory has %d", need, len(mem)),
			Hint:   fmt.Sprintf("take at least %d bytes; rows are padded to %d", need, RowAlign)}
	}
	if t.offset%RowAlign != 0 {
		return nil, &Error{Op: "tensor", Name: t.layout.Name, Err: ErrAligned,
			Detail: fmt.Sprintf("starts at byte %d", t.offset),
			Hint:   fmt.Sprintf("take it with alignment %d", RowAlign)}
	}
	t.size = min(t.layout.Bytes(), len(mem))
	return t, nil
}

// Layout returns a copy of the tensor's layout.
func (t *Tensor) Layout() Layout { return orZero(t).layout.clone() }

// Block returns the Block with the tensor's memory.
func (t *Tensor) Block() *unimem.Block { return orZero(t).block }

// Offset is the offset of the tensor's first byte in its Block.
func (t *Tensor) Offset() int { return orZero(t).offset }

// DType is the type of the elements.
func (t *Tensor) DType() mil.DType { return orZero(t).layout.DType }

// Bytes returns the tensor's bytes, including padding, or nil after the memory was
// closed, the cell returned or the tape cleared. It does not copy.
func (t *Tensor) Bytes() []byte {
	t = orZero(t)
	var mem []byte // the whole Block, cell or span
	switch {
	case t.kind == onCell:
		mem = t.cell.Bytes()
	case t.kind == onBlock:
		mem = t.block.Bytes()
	case t.block.Bytes() != nil && t.tape.Generation() == t.generation:
		mem = t.span
	}
	if mem == nil {
		return nil
	}
	end := t.at + t.size
	return mem[t.at:end:end]
}

// bytes is Bytes with an error instead of nil.
func (t *Tensor) bytes(op string) ([]byte, error) {
	if t.fault != nil {
		return nil, t.fault
	}
	b := t.Bytes()
	if b == nil {
		return nil, &Error{Op: op, Name: t.layout.Name, Err: ErrStale,
			Hint: "keep the memory open while a tensor views it"}
	}
	return b, nil
}

// writable returns ErrReadOnly for a tensor on memory that must not be written to.
func (t *Tensor) writable(op string) error {
	if !t.block.ReadOnly() {
		return nil
	}
	return &Error{Op: op, Name: t.layout.Name, Err: ErrReadOnly, Hint: "copy it into memory of its own with Copy"}
}

// Row returns the bytes of row i without padding, rows counted in row-major order. It does not copy. Errors: ErrShape
// for a row that there is not, ErrStale.
func (t *Tensor) Row(i int) ([]byte, error) {
	t = orZero(t)
	b, err := t.bytes("row")
	if err != nil {
		return nil, err
	}
	if i < 0 || i >= t.layout.Rows() {
		return nil, &Error{Op: "row", Name: t.layout.Name, Err: ErrShape,
			Detail: fmt.Sprintf("row %d of %d", i, t.layout.Rows())}
	}
	at, n := t.layout.Row(i), t.layout.RowBytes()
	return b[at : at+n : at+n], nil
}

// Rows iterates over the rows in row-major order: the bytes of each in place, without
// padding. unimem.View converts them to the type of the elements. It ends early if the
// memory is closed during the loop, and yields no row if it was closed before; Bytes then
// returns nil.
func (t *Tensor) Rows() iter.Seq[[]byte] {
	t = orZero(t)
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

// overlaps reports whether the ranges from first to last byte of two tensors overlap, also if
// they are on two Blocks of the same memory.
func (t *Tensor) overlaps(u *Tensor) bool {
	a, b := t.address(), u.address()
	return a < b+uintptr(u.size) && b < a+uintptr(t.size)
}

// address is the address of the first byte.
func (t *Tensor) address() uintptr { return t.block.Address() + uintptr(t.offset) }
