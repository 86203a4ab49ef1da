package metal

import "unsafe"

// pointer converts a reference, which is not memory of Go, to a pointer.
func pointer(ref uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&ref)) }

// Pointer is the id<MTLBuffer> for darwinkit, nil after Close. The Buffer owns it.
func (b *Buffer) Pointer() unsafe.Pointer {
	if b == nil {
		return nil
	}
	return pointer(b.object.get())
}

// Bytes is the memory, in place; nil after Close. It must not be used after Close. The caller has to synchronize with
// the GPU.
func (b *Buffer) Bytes() []byte {
	address := b.Address()
	if address == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(pointer(address)), b.size)
}

// Pointer is the id<MTLTexture> for darwinkit, nil after Close. The Texture owns it.
func (t *Texture) Pointer() unsafe.Pointer {
	if t == nil {
		return nil
	}
	return pointer(t.object.get())
}

// Pointer is the id<MTLDevice> for darwinkit, nil after Close. The Device owns it.
func (d *Device) Pointer() unsafe.Pointer {
	var p unsafe.Pointer
	_ = d.use("pointer", func(ref uintptr) error { p = pointer(ref); return nil })
	return p
}
