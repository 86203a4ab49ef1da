package vulkan

import (
	"context"
	"errors"
	"fmt"

	"github.com/anekit/anekit/unimem"
)

// Buffer is memory that kernels read and write: a Block, in place (Import), or memory of the driver (NewBuffer, Load).
type Buffer struct {
	object
	block    *unimem.Block // nil for memory of the driver
	size     int
	readOnly bool
	buffer   uint64
	memory   uint64
	address  uintptr // where the driver maps the memory, 0 if it cannot
}

// Import makes a Buffer of b.Pages, in place, by the Block's address. The Buffer retains b until its Close. The GPU and
// the CPU must not access the same bytes at the same time. A Buffer of a Block for reading only is for reading only:
// Submit refuses what writes to it.
//
// Errors: ErrReadOnly (the driver imports only memory that it may write to: use Load), ErrBlock (memory on the Go heap,
// or larger than Info.MaxMemory), ErrAlignment (address or size), ErrExtension (Info.HostMemory is false),
// unimem.ErrClosed, ErrClosed, ErrLost, ErrMemory, ErrDriver, and the error of ctx.
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
		if err == nil {
			buf, err = d.makeBuffer(&a, "import", &Buffer{block: b, size: len(b.Pages()), readOnly: b.ReadOnly()},
				props.types)
		}
		return buf, wantsWritable(b, err)
	}, func(buf *Buffer) { _ = buf.Close() })
}

// wantsWritable makes ErrReadOnly of the error of a driver that does not import a Block for reading only. Drivers have
// no result of their own for it: one pins the pages for writing, and reports what the kernel of the system refuses as a
// handle or as memory that it does not have.
func wantsWritable(b *unimem.Block, err error) error {
	var e *Error
	if !b.ReadOnly() || !errors.As(err, &e) || errors.Is(err, ErrLost) ||
		e.Call != hostPointer && e.Call != "vkAllocateMemory" && !errors.Is(err, ErrBlock) {
		return err
	}
	refused := *e
	refused.Err, refused.Hint = ErrReadOnly, onlyWritable
	return &refused
}

const onlyWritable = "this driver imports only memory that it may write to: use Load, which copies once"

// Load makes a Buffer for reading only of b.Pages, such as weights in a file that unimem.MapFile maps. It is Import
// where the driver can import b. Elsewhere it copies the bytes once into memory of the driver, of the GPU's own if the
// CPU reaches that; Copied counts them, and the Buffer does not retain b. Errors: those of Import but ErrReadOnly,
// ErrExtension and ErrAlignment, with ErrBlock only for its size, and unimem.ErrChanged (another process has cut off the
// file).
func (d *Device) Load(ctx context.Context, b *unimem.Block) (*Buffer, error) {
	buf, err := d.Import(ctx, b)
	switch {
	case err == nil:
		buf.readOnly = true
		return buf, nil
	case errors.Is(err, ErrReadOnly), errors.Is(err, ErrExtension), errors.Is(err, ErrAlignment),
		errors.Is(err, ErrBlock) && len(b.Pages()) <= d.MaxMemory:
	default:
		return nil, err
	}
	if err := b.Retain(); err != nil {
		return nil, newError("load", err, "", "open a Block first")
	}
	defer b.Release()
	buf, err = onDevice(ctx, d, "load", func() (buf *Buffer, err error) {
		var a arena
		defer a.free()
		return d.makeBuffer(&a, "load", &Buffer{size: len(b.Pages()), readOnly: true}, 0)
	}, func(buf *Buffer) { _ = buf.Close() })
	if err != nil {
		return nil, err
	}
	err = unimem.Guard(func() error { copy(buf.Bytes(), b.Pages()); return nil }, b)
	if err != nil {
		return nil, errors.Join(err, buf.Close())
	}
	d.copied.Add(int64(buf.size))
	return buf, nil
}

// Copied is the number of bytes that Load has copied.
func (d *Device) Copied() int64 {
	if d == nil {
		return 0
	}
	return d.copied.Load()
}

// accepts refuses Blocks that cannot be imported.
func (d *Device) accepts(b *unimem.Block) error {
	refuse := func(kind error, format string, args ...any) error {
		return newError("import", kind, "", fmt.Sprintf(format, args...))
	}
	n, size := max(d.Alignment, 1), len(b.Pages())
	switch {
	case b.Backing() == "heap":
		return refuse(ErrBlock, "the Block is on the Go heap: open it without OnHeap")
	case size > d.MaxMemory:
		return refuse(ErrBlock, "the Block has %d bytes, %s allows %d: use several Blocks", size, d.Name, d.MaxMemory)
	case b.ReadOnly() && d.HostMemory && d.driver == driverNVIDIA:
		// It pins pages for writing. Seen with 580.159.04 on an H200: after the failure the driver has no memory for
		// any Device of the process, until this one is closed.
		return refuse(ErrReadOnly, onlyWritable)
	case !d.HostMemory:
		return refuse(ErrExtension, "%s has no %s: use NewBuffer and copy", d.Name, extensionHost)
	case b.Address()%uintptr(n) != 0 || size%n != 0:
		return refuse(ErrAlignment, "address %#x and size %d are not both multiples of %d: use whole pages", b.Address(),
			size, n)
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
	kind, ok := d.memoryType(types, b.block == nil, b.block == nil && b.readOnly)
	if !ok {
		return nil, newError(op, ErrBlock, "", d.Name+" has no kind of memory for it")
	}
	allocation.memoryType = uint32(kind)
	err = d.do(op, "vkAllocateMemory", d.handle, put(a, &allocation), 0, put(a, &b.memory))
	if other, _ := d.memoryType(types, b.block == nil, false); errors.Is(err, ErrMemory) && other != kind {
		kind, allocation.memoryType = other, uint32(other) // the GPU's own memory is full
		err = d.do(op, "vkAllocateMemory", d.handle, put(a, &allocation), 0, put(a, &b.memory))
	}
	if err != nil {
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
// memory of the driver, which has to be visible and coherent. local prefers the GPU's own to all of these.
func (d *Device) memoryType(types uint32, own, local bool) (kind int, ok bool) {
	best := -1
	for i := range int(min(d.memory.count, 32)) {
		flags := d.memory.types[i].flags
		if types>>i&1 == 0 || own && flags&(memoryVisible|memoryCoherent) != memoryVisible|memoryCoherent {
			continue
		}
		rank := 0
		if local && flags&memoryLocal != 0 {
			rank = 1
		}
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

// Bytes returns the memory as the CPU reaches it: the pages of the Block, or the driver's mapping. It is nil after
// Close.
func (b *Buffer) Bytes() []byte {
	if !b.open() {
		return nil
	}
	if b.block != nil {
		return b.block.Pages()
	}
	return foreign(b.address, b.size)
}

// InPlace reports whether the Buffer is the Block's own pages, and no copy.
func (b *Buffer) InPlace() bool { return b != nil && b.block != nil }

// ReadOnly reports whether Submit refuses what writes to the Buffer.
func (b *Buffer) ReadOnly() bool { return b != nil && b.readOnly }

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

// Around returns the smallest Range that a Dispatch accepts and that holds length bytes from offset on. before is the
// number of bytes in it before offset. Tensors of a file begin anywhere: a kernel such as Linear skips what is before.
func (b *Buffer) Around(offset, length int) (r Range, before int) {
	align := 4
	if b != nil && b.device != nil {
		align = max(b.device.Offset, 4)
	}
	before = offset % align
	return b.Range(offset-before, (before+length+3)/4*4), before
}

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
