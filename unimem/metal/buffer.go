package metal

import (
	"fmt"

	"github.com/anekit/anekit/unimem"
)

// Buffer is an MTLBuffer over all bytes of a Block, with shared storage. Its methods are safe for concurrent use; a nil
// Buffer behaves like a closed one.
type Buffer struct {
	object *object
	size   int
}

// NewBuffer makes a Buffer over b, and retains b until its Close.
//
// Errors: ErrClosed, unimem.ErrClosed (b is nil or closed), ErrBlock (heap memory, an address or size that is not a
// multiple of unimem.PageSize, or too many bytes for the GPU), ErrRefused.
func (d *Device) NewBuffer(b *unimem.Block) (*Buffer, error) {
	o, err := d.over("buffer", b, func(ref uintptr) (uintptr, error) {
		if err := checkBuffer(b, d.driver.maxBuffer(ref)); err != nil {
			return 0, err
		}
		return d.driver.newBuffer(ref, b.Address(), b.Size()), nil
	})
	if err != nil {
		return nil, err
	}
	return &Buffer{o, b.Size()}, nil
}

// Allocate makes a Buffer of size bytes of Metal's own memory, for comparison: data gets there by a copy only.
//
// Errors: ErrClosed, ErrRange (less than 1 byte, or more than the GPU allows), ErrRefused.
func (d *Device) Allocate(size int) (*Buffer, error) {
	o, err := d.make("buffer", func(ref uintptr) (uintptr, error) {
		if most := d.driver.maxBuffer(ref); size < 1 || size > most {
			return 0, newError("buffer", ErrRange, "", fmt.Sprintf("%d bytes, this GPU allows 1 to %d", size, most))
		}
		return d.driver.allocate(ref, size), nil
	})
	if err != nil {
		return nil, err
	}
	return &Buffer{o, size}, nil
}

// Address is where Metal gives the memory to the CPU, 0 after Close: the Block's address for a Buffer of NewBuffer.
func (b *Buffer) Address() uintptr {
	if b == nil || b.object.hold() == 0 {
		return 0
	}
	defer b.object.drop()
	return b.object.driver.contents(b.object.ref)
}

// checkBuffer refuses memory that newBufferWithBytesNoCopy does not accept: it requires whole pages of one mapping. It
// also refuses the Go heap, whose memory C code must not keep.
func checkBuffer(b *unimem.Block, limit int) error {
	var hint string
	switch {
	case b.Backing() == "heap":
		hint = "the Block is on the Go heap: open it without OnHeap"
	case b.Address()%unimem.PageSize != 0 || b.Size()%unimem.PageSize != 0:
		hint = fmt.Sprintf("address %#x and size %d are not both multiples of %d: adopt whole pages", b.Address(),
			b.Size(), unimem.PageSize)
	case b.Size() > limit:
		hint = fmt.Sprintf("the Block has %d bytes, this GPU supports at most %d: use several Blocks", b.Size(), limit)
	default:
		return nil
	}
	return newError("buffer", ErrBlock, "", hint)
}

// Close releases the MTLBuffer and then the Block, once; repeating it returns nil. The error is ErrInUse while a Work
// of Submit that names the Buffer has not ended. Work that other packages give to the GPU is the caller's affair.
func (b *Buffer) Close() error {
	if b == nil {
		return nil
	}
	return b.object.close("Buffer")
}

// Range returns length bytes of the Buffer from offset on.
func (b *Buffer) Range(offset, length int) Range { return Range{b, offset, length} }

// Range is a run of bytes of a Buffer.
type Range struct {
	Buffer         *Buffer
	Offset, Length int // in bytes
}
