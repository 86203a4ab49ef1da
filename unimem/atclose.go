package unimem

import (
	"slices"
	"sync"
)

// AtClose has f called once when b is closed, before the memory is given back, by the
// goroutine that closes it. It is for what was derived from the Block's handle and must not
// outlive it, such as an engine's wrapper of the surface. f may not call methods of b.
// cancel reports whether it kept f from being called. ErrClosed after Close.
func (b *Block) AtClose(f func()) (cancel func() bool, err error) {
	e := &ending{f}
	if b == nil || b.life.closed() || !b.last.add(e) {
		return nil, &Error{Op: "atclose", Size: b.size(), Err: ErrClosed}
	}
	return func() bool { return b.last.remove(e) }, nil
}

// endings are what is to happen when a Block ends, newest first.
type endings struct {
	mu   sync.Mutex
	over bool
	all  []*ending
}

type ending struct{ f func() }

func (l *endings) add(e *ending) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.over {
		l.all = append(l.all, e)
	}
	return !l.over
}

func (l *endings) remove(e *ending) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.all, e)
	if i >= 0 {
		l.all = slices.Delete(l.all, i, i+1)
	}
	return i >= 0
}

// run takes what is left and calls it, outside the lock.
func (l *endings) run() {
	l.mu.Lock()
	all := l.all
	l.all, l.over = nil, true
	l.mu.Unlock()
	for i := len(all) - 1; i >= 0; i-- {
		all[i].f()
	}
}
