//go:build cgo

package standin

import (
	"fmt"

	"github.com/ebitengine/purego"

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
		if code := l.locking(l.unlock, b.Handle()); code != 0 {
			l.relock(b.Handle(), n)
			return fmt.Errorf("IOSurfaceUnlock: 0x%x", code)
		}
	}
	return nil
}

// unshare implements memory.
func (l *library) unshare(b *unimem.Block) error { return l.relock(b.Handle(), held) }

// relock takes n locks. One that is refused is tried again, because tests have
// single locks fail, and a lock too few could not be given back.
func (l *library) relock(ref uintptr, n int) error {
	const tries = 3
	for range n {
		var code int32
		for range tries {
			if code = l.locking(l.lock, ref); code == 0 {
				break
			}
		}
		if code != 0 {
			return fmt.Errorf("IOSurfaceLock: 0x%x", code)
		}
	}
	return nil
}

// locking calls IOSurfaceLock or IOSurfaceUnlock for reading and writing, and
// returns its kern_return_t.
func (l *library) locking(f, ref uintptr) int32 {
	const readWrite, noSeed = 0, 0
	r, _, _ := purego.SyscallN(f, ref, readWrite, noSeed)
	return int32(r)
}
