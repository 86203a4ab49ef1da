package vulkan

import (
	"context"
	"fmt"

	"github.com/anekit/anekit/unimem"
)

// Buffer is memory that kernels read and write: a Block, in place (Import), or memory of the driver (NewBuffer).
type Buffer struct {
	object
	block    *unimem.Block // nil for memory of the driver
	size     int
	imported string
	buffer   uint64
	memory   uint64
	address  uintptr // where the driver maps the memory, 0 if it cannot
	bytes    []byte  // of the driver's memory
}

// Ways in which memory reaches a device.
const (
	ImportHost   = "host memory" // VK_EXT_external_memory_host: the Block's own address
	ImportDMABuf = "dma-buf"     // VK_EXT_external_memory_dma_buf: the Block's memfd, made a dma-buf by udmabuf
	ImportCopy   = "copy"        // memory of the driver
)

// Import makes a Buffer of all bytes of b, in place, by the Block's address. The Buffer retains b until its Close. The
// GPU and the CPU must not access the same bytes at the same time.
//
// Errors: ErrBlock (memory on the Go heap, for reading only, or larger than Info.MaxMemory), ErrAlignment (address or
// size), ErrExtension (Info.HostMemory is false), unimem.ErrClosed, ErrClosed, ErrLost, ErrMemory, ErrDriver, and the
// error of ctx.
func (d *Device) Import(ctx context.Context, b *unimem.Block) (*Buffer, error) {
	return d.importBlock(ctx, b, ImportHost, func(a *arena) (*source, error) {
		if !d.HostMemory || d.in.hostPointer == nil {
			return nil, &Error{Op: "import", Err: ErrExtension, Hint: d.Name + " has no " + extensionHost +
				": use NewBuffer and copy"}
		}
		if err := d.aligned(b); err != nil {
			return nil, err
		}
		props := importProperties{sType: typeHostProperties}
		r := d.in.hostPointer(d.handle, handleHost, b.Address(), put(a, &props))
		if err := d.check("import", "vkGetMemoryHostPointerPropertiesEXT", r); err != nil {
			return nil, err
		}
		return &source{types: props.types, handle: handleHost, next: put(a, &importHost{sType: typeImportHost,
			handle: handleHost, pointer: b.Address()})}, nil
	})
}

// ImportDMABuf makes a Buffer of all bytes of b, in place, by a dma-buf that udmabuf of Linux (/dev/udmabuf) makes of
// the Block's memfd: Vulkan has no import of a memfd itself. Import needs no such device file, and most drivers offer
// only that. Errors: those of Import, ErrExtension also where Info.DMABuf is false or the kernel has no udmabuf,
// ErrBlock for memory that is not a memfd.
//
// No driver that this was tried on offers it (Mesa 22.3 llvmpipe, NVIDIA on an H200): the calls are tested, and a test
// proves the sharing where the driver and /dev/udmabuf are there.
func (d *Device) ImportDMABuf(ctx context.Context, b *unimem.Block) (*Buffer, error) {
	return d.importBlock(ctx, b, ImportDMABuf, func(a *arena) (*source, error) {
		if !d.DMABuf || d.in.fdProperties == nil {
			return nil, &Error{Op: "import", Err: ErrExtension,
				Hint: d.Name + " has no " + extensionDMABuf + ": use Import"}
		}
		if b.Backing() != "memfd" {
			return nil, &Error{Op: "import", Err: ErrBlock,
				Hint: "a dma-buf is made of a memfd, and the Block is " + b.Backing()}
		}
		fd, err := dmabuf(b.Handle(), b.Size())
		if err != nil {
			return nil, &Error{Op: "import", Err: ErrExtension, Hint: err.Error() + ": use Import"}
		}
		return d.dmabufSource(a, fd)
	})
}

// dmabufSource makes the structure of the import of a dma-buf, which the driver owns once it has imported it.
func (d *Device) dmabufSource(a *arena, fd int) (*source, error) {
	props := importProperties{sType: typeFdProperties}
	r := d.in.fdProperties(d.handle, handleDMABuf, uintptr(fd), put(a, &props))
	if err := d.check("import", "vkGetMemoryFdPropertiesKHR", r); err != nil {
		closeFile(fd)
		return nil, err
	}
	owned := false
	s := &source{types: props.types, handle: handleDMABuf, taken: func() { owned = true }, drop: func() {
		if !owned {
			closeFile(fd)
		}
	}}
	s.next = put(a, &importFd{sType: typeImportFd, handle: handleDMABuf, fd: int32(fd)})
	return s, nil
}

// aligned refuses an address or a size that VK_EXT_external_memory_host cannot import.
func (d *Device) aligned(b *unimem.Block) error {
	n := max(d.Alignment, 1)
	if b.Address()%uintptr(n) == 0 && b.Size()%n == 0 {
		return nil
	}
	return &Error{Op: "import", Err: ErrAlignment,
		Hint: fmt.Sprintf("address %#x and size %d are not both multiples of %d: use whole pages", b.Address(),
			b.Size(), n)}
}

// source is memory to import.
type source struct {
	types  uint32  // allowed memory types
	handle uint32  // kind of the handle
	next   uintptr // structure of the import, in the arena
	taken  func()  // called when the driver owns the handle; may be nil
	drop   func()  // called at the end of the import; may be nil
}

// importBlock makes a Buffer of a Block; find makes the structure of the import.
func (d *Device) importBlock(ctx context.Context, b *unimem.Block, imported string,
	find func(*arena) (*source, error)) (*Buffer, error) {
	return onDevice(ctx, d, "import", func() (buf *Buffer, err error) {
		if err := b.Retain(); err != nil {
			return nil, &Error{Op: "import", Err: err, Hint: "open a Block first"}
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
		s, err := find(&a)
		if err != nil {
			return nil, err
		}
		if s.drop != nil {
			defer s.drop()
		}
		return d.makeBuffer(&a, "import", &Buffer{block: b, size: b.Size(), imported: imported}, s)
	}, func(buf *Buffer) { _ = buf.Close() })
}

// accepts refuses Blocks that cannot be imported.
func (d *Device) accepts(b *unimem.Block) error {
	var hint string
	switch {
	case b.Backing() == "heap":
		hint = "the Block is on the Go heap: open it without OnHeap"
	case b.ReadOnly():
		hint = "the Block is for reading only, and a kernel can write"
	case b.Size() > d.MaxMemory:
		hint = fmt.Sprintf("the Block has %d bytes, %s allows %d: use several Blocks", b.Size(), d.Name, d.MaxMemory)
	default:
		return nil
	}
	return &Error{Op: "import", Err: ErrBlock, Hint: hint}
}

// NewBuffer makes a Buffer of memory of the driver that the CPU reaches too, by Bytes: the copying path, for devices
// that import nothing and for comparison. Its content is undefined at first. Errors: ErrRange (a size below 1 or
// above Info.MaxMemory), ErrClosed, ErrLost, ErrMemory, ErrDriver, and the error of ctx.
func (d *Device) NewBuffer(ctx context.Context, size int) (*Buffer, error) {
	if d != nil && d.in != nil && (size < 1 || size > d.MaxMemory) {
		return nil, &Error{Op: "buffer", Err: ErrRange, Hint: fmt.Sprintf("%d bytes: give 1 to %d", size, d.MaxMemory)}
	}
	return onDevice(ctx, d, "buffer", func() (*Buffer, error) {
		var a arena
		defer a.free()
		return d.makeBuffer(&a, "buffer", &Buffer{size: size, imported: ImportCopy}, nil)
	}, func(buf *Buffer) { _ = buf.Close() })
}

// makeBuffer makes the objects of the driver for b, from a source or in memory of the driver.
func (d *Device) makeBuffer(a *arena, op string, b *Buffer, from *source) (_ *Buffer, err error) {
	b.destroy = func(device uintptr) {
		if b.buffer != 0 {
			d.in.destroyBuffer(device, uintptr(b.buffer), 0)
		}
		if b.memory != 0 {
			d.in.freeMemory(device, uintptr(b.memory), 0) // unmaps it too
		}
		if b.block != nil {
			b.block.Release()
		}
	}
	defer func() {
		if err != nil {
			block := b.block
			b.block = nil // the caller releases it
			b.destroy(d.handle)
			b.block = block
		}
	}()
	info := bufferInfo{sType: typeBuffer, size: uint64(b.size), usage: usages}
	if from != nil {
		info.next = put(a, &externalBuffer{sType: typeExternalBuffer, handles: from.handle})
	}
	r := d.in.createBuffer(d.handle, put(a, &info), 0, put(a, &b.buffer))
	if err := d.check(op, "vkCreateBuffer", r); err != nil {
		return nil, err
	}
	var needs memoryRequirements
	d.in.requirements(d.handle, uintptr(b.buffer), put(a, &needs))
	allocation := allocateInfo{sType: typeAllocate, size: needs.size}
	types := needs.types
	if from != nil {
		types &= from.types
		allocation.size, allocation.next = uint64(b.size), from.next
		if needs.size > uint64(b.size) {
			return nil, &Error{Op: op, Err: ErrAlignment, Hint: fmt.Sprintf("%s needs %d bytes for a buffer of %d",
				d.Name, needs.size, b.size)}
		}
	}
	kind, ok := d.memoryType(types, from == nil)
	if !ok {
		return nil, &Error{Op: op, Err: ErrBlock, Hint: d.Name + " has no kind of memory for it"}
	}
	allocation.memoryType = uint32(kind)
	r = d.in.allocate(d.handle, put(a, &allocation), 0, put(a, &b.memory))
	if err := d.check(op, "vkAllocateMemory", r); err != nil {
		return nil, err
	}
	if from != nil && from.taken != nil {
		from.taken()
	}
	r = d.in.bind(d.handle, uintptr(b.buffer), uintptr(b.memory), 0)
	if err := d.check(op, "vkBindBufferMemory", r); err != nil {
		return nil, err
	}
	if d.memory.types[kind].flags&memoryVisible != 0 {
		r := d.in.mapMemory(d.handle, uintptr(b.memory), 0, uintptr(wholeSize), 0, put(a, &b.address))
		if err := d.check(op, "vkMapMemory", r); err != nil && from == nil {
			return nil, err
		} else if err != nil {
			b.address = 0 // the CPU uses the Block's own mapping
		}
	}
	if from == nil {
		b.bytes = foreign(b.address, b.size)
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
	return b.bytes
}

// Mapped returns the memory at Address: for a Block that was imported in place the same bytes as Bytes. It is nil after
// Close, and for memory that the driver does not map.
func (b *Buffer) Mapped() []byte {
	address := b.Address()
	if address == 0 {
		return nil
	}
	return foreign(address, b.size)
}

// Address returns the address at which vkMapMemory gives the memory to the CPU. For a Block that was imported in
// place it is the Block's own. It is 0 after Close, and for memory that the driver does not map.
func (b *Buffer) Address() uintptr {
	if !b.open() {
		return 0
	}
	return b.address
}

// Block returns the Block of Import, nil for memory of the driver.
func (b *Buffer) Block() *unimem.Block {
	if b == nil {
		return nil
	}
	return b.block
}

// Imported says how the memory reaches the device: ImportHost, ImportDMABuf or ImportCopy.
func (b *Buffer) Imported() string {
	if b == nil {
		return ""
	}
	return b.imported
}

// Size is the size in bytes; it does not change.
func (b *Buffer) Size() int {
	if b == nil {
		return 0
	}
	return b.size
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
