//go:build cgo

package standin

import (
	"errors"
	"fmt"

	"github.com/ebitengine/purego"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/unimem"
)

// held is how many locks a Block has on its surface while the engine has it
// mapped: one of Adopt's, one of Map's. The Block gives them back by itself.
const held = 2

// open implements memory.
func (l *library) open(id uint32, size int) (*unimem.Block, error) {
	return l.surfaces.Adopt(id, size)
}

// close implements memory.
func (l *library) close(b *unimem.Block) error { return b.Close() }

// share implements memory: a surface whose CPU lock the bridge has given up for
// an evaluation must not stay locked by the engine.
func (l *library) share(b *unimem.Block) error {
	for n := range held {
		if err := l.insist(l.unlock, b.Handle()); err != nil {
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
		errs = append(errs, l.insist(l.lock, ref))
	}
	return errors.Join(errs...)
}

// insist locks or unlocks a surface for reading and writing. A call that is
// refused is made again, because tests have single calls fail, and what it would
// leave uneven nobody could make even later.
func (l *library) insist(f, ref uintptr) error {
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
