package apple

import (
	"errors"
	"sync"

	"github.com/anekit/anekit/objcbridge"
)

// lock is the CPU's lock on an IOSurface. Each Block on the surface takes it for its lifetime; runs may release it. A
// surface has one lock in the process, found by the surface's ID, for all engines that run on its Blocks. Several
// Blocks may be on one surface, each with an IOSurfaceRef of its own. Locks of Mappings and of Blocks that no engine
// has wrapped stay held during a run.
type lock struct {
	mu       sync.Mutex
	wrappers map[*block]int // number of wrappers of each Block
	running  int            // requests that run while unlocked
	released int            // locks of Blocks that are released, also after a run if taking them again failed
}

// lockOf returns the lock of an IOSurface and adds a wrapper of b to it.
func lockOf(id uint32, b *block) *lock {
	process.mu.Lock()
	defer process.mu.Unlock()
	l := process.locks[id]
	if l == nil {
		l = &lock{wrappers: map[*block]int{}}
		if process.locks == nil {
			process.locks = map[uint32]*lock{}
		}
		process.locks[id] = l
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wrappers[b]++
	return l
}

// dropLock removes a wrapper that is still open. The last one of a Block takes a
// released lock again, since the Block will release it.
func (f *surface) dropLock() error {
	process.mu.Lock()
	defer process.mu.Unlock()
	l := f.lock
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.wrappers[f.block]--; l.wrappers[f.block] > 0 {
		return nil
	}
	delete(l.wrappers, f.block)
	if len(l.wrappers) == 0 {
		delete(process.locks, f.ID)
	}
	return l.settle(f.wrapper, min(l.released, len(l.wrappers)))
}

// unlock releases the locks of all Blocks for a run; relock takes them again after the
// last run. If that fails, the next relock or dropLock tries again.
func (f *surface) unlock() error {
	l := f.lock
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.settle(f.wrapper, len(l.wrappers)); err != nil {
		if l.running == 0 {
			err = errors.Join(err, l.settle(f.wrapper, 0))
		}
		return err
	}
	l.running++
	return nil
}

func (f *surface) relock() error {
	l := f.lock
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running--; l.running > 0 {
		return nil
	}
	return l.settle(f.wrapper, 0)
}

// settle makes released n. The caller holds mu.
func (l *lock) settle(w *objcbridge.Surface, n int) error {
	for l.released < n {
		if err := w.Unlock(); err != nil {
			return err
		}
		l.released++
	}
	for l.released > n {
		if err := w.Lock(); err != nil {
			return err
		}
		l.released--
	}
	return nil
}
