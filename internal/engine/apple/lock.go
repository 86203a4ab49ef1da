package apple

import "sync"

// lock is the lock of the CPU on an IOSurface, which its Block takes for life and
// runs may give up. There is one for each surface in the process, because several
// engines may run on the same Block.
type lock struct {
	users int // wrappers of the surface; guarded by process.mu

	mu       sync.Mutex
	running  int  // requests that run with the lock given up
	unlocked bool // it is given up: while requests run, and after it could not be taken back
}

// lockOf returns the lock of an IOSurface for one more wrapper.
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

// drop ends the use by a wrapper that is still open. The last one takes back a lock
// that is given up, since the Block gives back what it took.
func (f *surface) drop() error {
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

// enter gives up the lock for a run; leave takes it back after the last. When it
// cannot be had, the next leave or drop tries again.
func (f *surface) enter() error {
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

func (f *surface) leave() error {
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
