package standin

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/blockoption"
	"github.com/anekit/anekit/internal/bridgedir"
	"github.com/anekit/anekit/internal/engine/apple"
	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/internal/iosurface"
	"github.com/anekit/anekit/objcbridge"
	"github.com/anekit/anekit/unimem"
)

// The libraries that `make bridge` builds, all in one folder.
const (
	frameworkFile = "libAppleNeuralEngine.so"
	surfaceFile   = bridgedir.Surface
)

// library is the two libraries, which stay loaded for the life of the process.
type library struct {
	dir      string
	surfaces *iosurface.Table

	// Functions of standin.h.
	fault                               func(selector string, kind FaultKind, count int32, value int64) int32
	releaseHangs, clearFaults, purgeAll func()
	count                               func(*Counts)
	instances                           func(class string) int64
	surfaceCount                        func(*SurfaceCounts)
	surfaceFail                         func(function string, nth int32)
	surfaceAdopt                        func(fd int32, size uintptr) iosurface.Ref
	setTempDir                          func(path string)

	// Functions of Linux.
	begin   func(o Options, replay []byte) int                 // starts the framework; replay is a property list, or nil
	pool    func(named string) (string, error)                 // poolOf
	bytesAt func(address uintptr, size int) (outsideGo []byte) // memory of a surface
}

// bridge returns the path of the bridge library in the same folder.
func (l *library) bridge() string { return filepath.Join(l.dir, objcbridge.LibraryName()) }

// held is the number of locks that a Block has on its surface while the engine
// maps it: one from Adopt, one from Map. The Block releases them itself.
const held = 2

// open implements memory.
func (l *library) open(id uint32, size int) (*unimem.Block, error) {
	return unimem.AdoptSurface(id, size, blockoption.On(l.surfaces))
}

// close implements memory.
func (l *library) close(b *unimem.Block) error { return b.Close() }

// share implements memory. It releases the engine's locks: the bridge may unlock
// a surface for an evaluation, and it must then be unlocked.
func (l *library) share(b *unimem.Block) error {
	ref := iosurface.Ref(b.Handle())
	for n := range held {
		if err := withRetry("IOSurfaceUnlock", l.surfaces.Unlock, ref); err != nil {
			return errors.Join(err, l.relock(ref, n))
		}
	}
	return nil
}

// unshare implements memory.
func (l *library) unshare(b *unimem.Block) error {
	return l.relock(iosurface.Ref(b.Handle()), held)
}

// relock takes n locks.
func (l *library) relock(ref iosurface.Ref, n int) error {
	var errs []error
	for range n {
		errs = append(errs, withRetry("IOSurfaceLock", l.surfaces.Lock, ref))
	}
	return errors.Join(errs...)
}

// withRetry locks or unlocks a surface for reading and writing. It retries a
// failed call, because tests make single calls fail and a missing call could not
// be made up for later.
func withRetry(call string, f func(iosurface.Ref, uint32) int32, ref iosurface.Ref) error {
	const tries, readWrite = 3, 0
	var code int32
	for range tries {
		if code = f(ref, readWrite); code == 0 {
			return nil
		}
	}
	return &ane.Error{Op: "bind", Engine: Name, Err: ane.ErrEngine,
		Detail: fmt.Sprintf("%s returned 0x%x", call, uint32(code))}
}

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
	ref := l.surfaces.Lookup(b.ID())
	if ref == 0 {
		return false
	}
	defer l.surfaces.Release(ref)
	base := l.surfaces.GetBaseAddress(ref)
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
	ref := l.surfaceAdopt(int32(b.Handle()), uintptr(b.Size()))
	if ref == 0 {
		return fail(ane.ErrEngine, fmt.Sprintf("no surface can be made on a memfd of %d bytes", b.Size()))
	}
	if err := withRetry("IOSurfaceLock", l.surfaces.Lock, ref); err != nil {
		l.surfaces.Release(ref)
		return apple.Surface{}, err
	}
	release := func() error {
		err := withRetry("IOSurfaceUnlock", l.surfaces.Unlock, ref)
		l.surfaces.Release(ref)
		return err
	}
	base, id := l.surfaces.GetBaseAddress(ref), l.surfaces.GetID(ref)
	if base == 0 || id == 0 {
		_ = release() // report the first failure
		return fail(ane.ErrEngine, "IOSurfaceGetBaseAddress or IOSurfaceGetID returned 0")
	}
	return apple.Surface{Ref: uintptr(ref), ID: id, Bytes: l.bytesAt(base, b.Size()), Release: release}, nil
}
