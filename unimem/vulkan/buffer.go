package vulkan

import (
	"context"
	"fmt"

	"github.com/anekit/anekit/unimem"
)

// Buffer is memory that kernels read and write: a Block, in place (Import), or memory of the driver (NewBuffer).
type Buffer struct {
	object
	block   *unimem.Block // nil for memory of the driver
	size    int
	buffer  uint64
	memory  uint64
	address uintptr // where the driver maps the memory, 0 if it cannot
}

// Import makes a Buffer of all bytes of b, in place, by the Block's address. The Buffer retains b until its Close. The
// GPU and the CPU must not access the same bytes at the same time.
//
// Errors: ErrBlock (memory on the Go heap, for reading only, or larger than Info.MaxMemory), ErrAlignment (address or
// size), ErrExtension (Info.HostMemory is false), unimem.ErrClosed, ErrClosed, ErrLost, ErrMemory, ErrDriver, and the
// error of ctx.
func (d *Device) Import(ctx context.Context, b *unimem.Block) (*Buffer, error) {
	return onDevice(ctx, d, "import", func() (buf *Buffer, err error) {
		if err := b.Retain(); err != nil {
			return nil, newError("import", err, "", "open a Block first")
		}
		defer func() {
			if err != nil {
				b.Release()
			}
		}()
		if err := d.accepts(b); err != nil {
			return nil, err
		}
		var a arena
		defer a.free()
		props := hostProperties{sType: typeHostProperties}
		err = d.do("import", hostPointer, d.handle, handleHost, b.Address(), put(&a, &props))
		if err != nil {
			return nil, err
		}
		return d.makeBuffer(&a, "import", &Buffer{block: b, size: b.Size()}, props.types)
	}, func(buf *Buffer) { _ = buf.Close() })
}

// accepts refuses Blocks that cannot be imported.
func (d *Device) accepts(b *unimem.Block) error {
	refuse := func(kind error, format string, args ...any) error {
		return newError("import", kind, "", fmt.Sprintf(format, args...))
	}
	n := max(d.Alignment, 1)
	switch {
	case b.Backing() == "heap":
		return refuse(ErrBlock, "the Block is on the Go heap: open it without OnHeap")
	case b.ReadOnly():
		return refuse(ErrBlock, "the Block is for reading only, and a kernel can write")
	case b.Size() > d.MaxMemory:
		return refuse(ErrBlock, "the Block has %d bytes, %s allows %d: use several Blocks", b.Size(), d.Name, d.MaxMemory)
	case !d.HostMemory:
		return refuse(ErrExtension, "%s has no %s: use NewBuffer and copy", d.Name, extensionHost)
	case b.Address()%uintptr(n) != 0 || b.Size()%n != 0:
		return refuse(ErrAlignment, "address %#x and size %d are not both multiples of %d: use whole pages", b.Address(),
			b.Size(), n)
	}
	return nil
}

// NewBuffer makes a Buffer of memory of the driver that the CPU reaches too, by Bytes. It is the copying path, for
// devices that import nothing and for comparison. Its content is undefined at first. Errors: ErrRange (a size below 1
// or above Info.MaxMemory), ErrClosed, ErrLost, ErrMemory, ErrDriver, and the error of ctx.
func (d *Device) NewBuffer(ctx context.Context, size int) (*Buffer, error) {
	if d != nil && d.in != nil && (size < 1 || size > d.MaxMemory) {
		return nil, newError("buffer", ErrRange, "", fmt.Sprintf("%d bytes: give 1 to %d", size, d.MaxMemory))
	}
	return onDevice(ctx, d, "buffer", func() (*Buffer, error) {
		var a arena
		defer a.free()
		return d.makeBuffer(&a, "buffer", &Buffer{size: size}, 0)
	}, func(buf *Buffer) { _ = buf.Close() })
}

// makeBuffer makes the objects of the driver for b: over its Block, in memory of one of the types, or without a Block
// in memory of the driver.
func (d *Device) makeBuffer(a *arena, op string, b *Buffer, types uint32) (_ *Buffer, err error) {
	destroy := func(device uintptr) {
		d.in.call("vkDestroyBuffer", device, uintptr(b.buffer), 0)
		d.in.call("vkFreeMemory", device, uintptr(b.memory), 0) // unmaps it too
	}
	b.destroy = func(device uintptr) {
		destroy(device)
		if b.block != nil {
			b.block.Release()
		}
	}
	defer func() {
		if err != nil {
			destroy(d.handle)
		}
	}()
	info := bufferInfo{sType: typeBuffer, size: uint64(b.size), usage: usages}
	if b.block != nil {
		info.next = put(a, &externalBuffer{sType: typeExternalBuffer, handles: handleHost})
	}
	if err := d.do(op, "vkCreateBuffer", d.handle, put(a, &info), 0, put(a, &b.buffer)); err != nil {
		return nil, err
	}
	var needs memoryRequirements
	d.in.call("vkGetBufferMemoryRequirements", d.handle, uintptr(b.buffer), put(a, &needs))
	allocation := allocateInfo{sType: typeAllocate, size: needs.size}
	if b.block == nil {
		types = needs.types
	} else {
		types &= needs.types
		allocation.size = uint64(b.size)
		allocation.next = put(a, &importHost{sType: typeImportHost, handle: handleHost, pointer: b.block.Address()})
		if needs.size > uint64(b.size) {
			return nil, newError(op, ErrAlignment, "",
				fmt.Sprintf("%s needs %d bytes for a buffer of %d", d.Name, needs.size, b.size))
		}
	}
	kind, ok := d.memoryType(types, b.block == nil)
	if !ok {
		return nil, newError(op, ErrBlock, "", d.Name+" has no kind of memory for it")
	}
	allocation.memoryType = uint32(kind)
	if err := d.do(op, "vkAllocateMemory", d.handle, put(a, &allocation), 0, put(a, &b.memory)); err != nil {
		return nil, err
	}
	if err := d.do(op, "vkBindBufferMemory", d.handle, uintptr(b.buffer), uintptr(b.memory), 0); err != nil {
		return nil, err
	}
	if d.memory.types[kind].flags&memoryVisible != 0 {
		err := d.do(op, "vkMapMemory", d.handle, uintptr(b.memory), 0, uintptr(wholeSize), 0, put(a, &b.address))
		if err != nil && b.block == nil {
			return nil, err
		}
		if err != nil {
			b.address = 0 // the CPU uses the Block's own mapping
		}
	}
	return b, d.add(op, &b.object)
}

// memoryType returns the first memory type with the most of what the CPU needs: visible, coherent, cached. own is
// memory of the driver, which has to be visible and coherent.
func (d *Device) memoryType(types uint32, own bool) (kind int, ok bool) {
	best := -1
	for i := range int(min(d.memory.count, 32)) {
		flags := d.memory.types[i].flags
		if types>>i&1 == 0 || own && flags&(memoryVisible|memoryCoherent) != memoryVisible|memoryCoherent {
			continue
		}
		rank := 0
		for _, f := range []uint32{memoryVisible, memoryCoherent, memoryCached} {
			rank *= 2
			if flags&f != 0 {
				rank++
			}
		}
		if rank > best {
			kind, best, ok = i, rank, true
		}
	}
	return kind, ok
}

// Bytes returns the memory as the CPU reaches it: the bytes of the Block, or the driver's mapping. It is nil after
// Close.
func (b *Buffer) Bytes() []byte {
	if !b.open() {
		return nil
	}
	if b.block != nil {
		return b.block.Bytes()
	}
	return foreign(b.address, b.size)
}

// Address returns the address at which vkMapMemory gives the memory to the CPU. For a Block that was imported in place
// it is the Block's own. It is 0 after Close, and for memory that the driver does not map.
func (b *Buffer) Address() uintptr {
	if !b.open() {
		return 0
	}
	return b.address
}

// open reports whether Bytes may be used.
func (b *Buffer) open() bool {
	if b == nil || b.device == nil {
		return false
	}
	b.device.mu.Lock()
	defer b.device.mu.Unlock()
	return !b.closed
}

// Range returns length bytes from offset on.
func (b *Buffer) Range(offset, length int) Range { return Range{b, offset, length} }

// Range is Length bytes of a Buffer from Offset on. Making one checks nothing; Submit does.
type Range struct {
	Buffer         *Buffer
	Offset, Length int
}

// Close frees the memory, or releases the Block, once; repeating it returns nil. The error is ErrInUse while a
// submission that names the Buffer has not ended.
func (b *Buffer) Close() error {
	if b == nil || b.device == nil {
		return nil
	}
	return b.close("Buffer")
}
