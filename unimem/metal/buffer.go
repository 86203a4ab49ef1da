package metal

import (
	"fmt"
	"os"

	"github.com/anekit/anekit/unimem"
)

// Buffer is an MTLBuffer over the pages of a Block, with shared storage. Its methods are safe for concurrent use; a nil
// Buffer behaves like a closed one.
type Buffer struct {
	object   *object
	size     int
	readOnly bool
}

// NewBuffer makes a Buffer over b.Pages, and retains b until its Close. A Buffer of a Block for reading only, such as
// one of unimem.MapFile, is for reading only: Submit refuses what writes to it. Metal itself does not know that.
//
// Errors: ErrClosed, unimem.ErrClosed (b is nil or closed), ErrBlock (heap memory, an address that is not that of
// a page, a size that is not a multiple of unimem.PageSize, or too many bytes for the GPU), ErrRefused.
func (d *Device) NewBuffer(b *unimem.Block) (*Buffer, error) {
	o, err := d.over("buffer", b, func(ref uintptr) (uintptr, error) {
		if err := checkBuffer(b, d.driver.maxBuffer(ref)); err != nil {
			return 0, err
		}
		return d.driver.newBuffer(ref, b.Address(), len(b.Pages())), nil
	})
	if err != nil {
		return nil, err
	}
	return &Buffer{o, len(b.Pages()), b.ReadOnly()}, nil
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
	return &Buffer{o, size, false}, nil
}

// ReadOnly reports whether Submit refuses what writes to the Buffer.
func (b *Buffer) ReadOnly() bool { return b != nil && b.readOnly }

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
	size := len(b.Pages())
	switch {
	case b.Backing() == "heap":
		hint = "the Block is on the Go heap: open it without OnHeap"
	case b.Address()%uintptr(os.Getpagesize()) != 0 || size%unimem.PageSize != 0:
		hint = fmt.Sprintf("address %#x is not a multiple of %d, or size %d none of %d: adopt whole pages", b.Address(),
			os.Getpagesize(), size, unimem.PageSize)
	case size > limit:
		hint = fmt.Sprintf("the Block has %d bytes, this GPU supports at most %d: use several Blocks", size, limit)
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

// Around returns the smallest Range that a Dispatch accepts and that holds length bytes from offset on. before is the
// number of bytes in it before offset. Tensors of a file begin anywhere: a kernel such as Linear skips what is before.
func (b *Buffer) Around(offset, length int) (r Range, before int) {
	before = offset % 4
	return b.Range(offset-before, (before+length+3)/4*4), before
}

// Range is a run of bytes of a Buffer.
type Range struct {
	Buffer         *Buffer
	Offset, Length int // in bytes
}
