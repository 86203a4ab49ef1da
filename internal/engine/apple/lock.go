package apple

import "sync"

// lock is the CPU's lock on an IOSurface. The Block takes it for its lifetime; runs
// may release it. A surface has one lock in the process, because several engines
// may run on the same Block.
type lock struct {
	users int // number of wrappers of the surface; guarded by process.mu

	mu       sync.Mutex
	running  int  // requests that run while unlocked
	unlocked bool // also after a run if taking the lock again failed
}

// lockOf returns the lock of an IOSurface and adds a wrapper to it.
func lockOf(ref uintptr) *lock {
	process.mu.Lock()
	defer process.mu.Unlock()
	l := process.locks[ref]
	if l == nil {
		l = &lock{}
		if process.locks == nil {
			process.locks = map[uintptr]*lock{}
		}
		process.locks[ref] = l
	}
	l.users++
	return l
}

// dropLock removes a wrapper that is still open. The last one takes a released lock
// again, since the Block will release it.
func (f *surface) dropLock() error {
	process.mu.Lock()
	defer process.mu.Unlock()
	if f.lock.users--; f.lock.users > 0 {
		return nil
	}
	delete(process.locks, f.Ref)
	if f.lock.unlocked {
		return f.wrapper.Lock()
	}
	return nil
}

// unlock releases the lock for a run; relock takes it again after the last run. If
// that fails, the next relock or dropLock tries again.
func (f *surface) unlock() error {
	l := f.lock
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.unlocked {
		if err := f.wrapper.Unlock(); err != nil {
			return err
		}
		l.unlocked = true
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
	err := f.wrapper.Lock()
	l.unlocked = err != nil
	return err
}
