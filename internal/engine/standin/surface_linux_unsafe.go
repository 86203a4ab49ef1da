//go:build linux && cgo

package standin

import (
	"fmt"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/apple"
	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/unimem"
)

// surfaceOf returns the surface for the pages of b.
//
// A Block opened with Surfaces is its surface. A memfd is mapped a second
// time, as a surface that is locked for its lifetime, as Blocks are on macOS. With the
// rules of macOS there are no memfds, and the engine's bytes are shown only if
// Options.Reveal asks for them.
func (f *Framework) surfaceOf(b *unimem.Block) (apple.Surface, error) {
	refused := &ane.Error{Op: "bind", Engine: Name, Err: ane.ErrMismatch,
		Hint: "open the memory with Surfaces of this framework, or on Linux without OnHeap"}
	if b.Bytes() == nil { // nil or closed
		refused.Err, refused.Hint = ane.ErrStale, "bind memory that is open"
		return apple.Surface{}, refused
	}
	switch b.Backing() {
	case "IOSurface":
		if f.library.owns(b) {
			return f.shown(apple.Surface{Ref: b.Handle(), ID: b.ID(), Bytes: b.Bytes()}), nil
		}
		refused.Detail = "the surface belongs to another library"
	case "memfd":
		if host.ShareByFD {
			return f.library.adopt(b)
		}
		fallthrough
	default:
		refused.Detail = "memory of kind " + b.Backing() + " cannot be used as a surface"
	}
	return apple.Surface{}, refused
}

// shown returns s as the caller of the framework sees it: Apple's engine does not show its bytes.
func (f *Framework) shown(s apple.Surface) apple.Surface {
	if host.Mac && !f.options.Reveal {
		s.Bytes = nil
	}
	return s
}

// owns reports whether b is a surface of this library: its id leads to a surface at
// the same address. A lookup makes another reference, so references differ.
func (l *library) owns(b *unimem.Block) bool {
	ref, _, _ := purego.SyscallN(l.lookup, uintptr(b.ID()))
	if ref == 0 {
		return false
	}
	defer call(l.release, ref)
	base, _, _ := purego.SyscallN(l.base, ref)
	return base != 0 && base == b.Address()
}

// adopt makes a surface on the pages of a memfd.
func (l *library) adopt(b *unimem.Block) (apple.Surface, error) {
	fail := func(err error, detail string) (apple.Surface, error) {
		return apple.Surface{}, &ane.Error{Op: "bind", Engine: Name, Err: err, Detail: detail}
	}
	if err := b.Retain(); err != nil {
		return fail(ane.ErrStale, err.Error())
	}
	defer b.Release() // the mapping does not need the file descriptor
	ref, _, _ := purego.SyscallN(l.surfaceAdopt, b.Handle(), uintptr(b.Size()))
	if ref == 0 {
		return fail(ane.ErrEngine, fmt.Sprintf("no surface can be made on a memfd of %d bytes", b.Size()))
	}
	if err := l.lockWithRetry(l.lock, ref); err != nil {
		call(l.release, ref)
		return apple.Surface{}, err
	}
	release := func() error {
		err := l.lockWithRetry(l.unlock, ref)
		call(l.release, ref)
		return err
	}
	base, _, _ := purego.SyscallN(l.base, ref)
	id, _, _ := purego.SyscallN(l.id, ref)
	if base == 0 || uint32(id) == 0 {
		_ = release() // report the first failure
		return fail(ane.ErrEngine, "IOSurfaceGetBaseAddress or IOSurfaceGetID returned 0")
	}
	return apple.Surface{Ref: ref, ID: uint32(id), Bytes: memoryAt(base, b.Size()), Release: release}, nil
}

// memoryAt returns memory outside Go's heap.
func memoryAt(base uintptr, size int) []byte {
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&base)), size)
}
