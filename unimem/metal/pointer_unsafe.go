package metal

import "unsafe"

// pointer reads a reference, which is no memory of Go's, back as a pointer.
func pointer(ref uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&ref)) }

// Pointer is the id<MTLBuffer> as darwinkit takes it, nil after Close. The Buffer keeps
// owning it.
func (b *Buffer) Pointer() unsafe.Pointer {
	if b == nil {
		return nil
	}
	return pointer(b.object.get())
}

// Pointer is the id<MTLTexture> as darwinkit takes it, nil after Close. The Texture keeps
// owning it.
func (t *Texture) Pointer() unsafe.Pointer {
	if t == nil {
		return nil
	}
	return pointer(t.object.get())
}

// Pointer is the id<MTLDevice> as darwinkit takes it, nil after Close. The Device keeps
// owning it.
func (d *Device) Pointer() unsafe.Pointer {
	var p unsafe.Pointer
	_ = d.use("pointer", func(ref uintptr) error { p = pointer(ref); return nil })
	return p
}
