//go:build cgo

package standin

import (
	"errors"
	"fmt"

	"github.com/ebitengine/purego"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/blockoption"
	"github.com/anekit/anekit/unimem"
)

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
	for n := range held {
		if err := l.lockWithRetry(l.unlock, b.Handle()); err != nil {
			return errors.Join(err, l.relock(b.Handle(), n))
		}
	}
	return nil
}

// unshare implements memory.
func (l *library) unshare(b *unimem.Block) error { return l.relock(b.Handle(), held) }

// relock takes n locks.
func (l *library) relock(ref uintptr, n int) error {
	var errs []error
	for range n {
		errs = append(errs, l.lockWithRetry(l.lock, ref))
	}
	return errors.Join(errs...)
}

// lockWithRetry locks or unlocks a surface for reading and writing. It retries a
// failed call, because tests make single calls fail and a missing call could not
// be made up for later.
func (l *library) lockWithRetry(f, ref uintptr) error {
	const tries, readWrite, noSeed = 3, 0, 0
	var code uintptr
	for range tries {
		if code, _, _ = purego.SyscallN(f, ref, readWrite, noSeed); int32(code) == 0 {
			return nil
		}
	}
	call := "IOSurfaceLock"
	if f == l.unlock {
		call = "IOSurfaceUnlock"
	}
	return &ane.Error{Op: "bind", Engine: Name, Err: ane.ErrEngine,
		Detail: fmt.Sprintf("%s returned 0x%x", call, uint32(code))}
}
