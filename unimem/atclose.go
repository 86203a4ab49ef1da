package unimem

import (
	"slices"
	"sync"
)

// AtClose registers f, which the goroutine that closes b calls once, before the memory is
// freed. It is for objects derived from the Block's handle that must not outlive it, such as
// an engine's wrapper of the surface. f must not call methods of b. A panic of f reaches the caller
// of Close, which leaks nothing: the other functions run and the memory is freed before. cancel
// reports whether it prevented the call of f. The error is ErrClosed after Close, and ErrOption without a function.
func (b *Block) AtClose(f func()) (cancel func() bool, err error) {
	if f == nil {
		return nil, &Error{Op: "atclose", Size: b.size(), Err: ErrOption, Hint: "pass a function"}
	}
	e := &ending{f}
	if b == nil || b.life.closed() || !b.last.add(e) {
		return nil, &Error{Op: "atclose", Size: b.size(), Err: ErrClosed}
	}
	return func() bool { return b.last.remove(e) }, nil
}

// endings are the functions to call when a Block is closed, newest first.
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

// run calls the remaining functions, outside of the lock. If one panics, the others run before
// the panic reaches the caller.
func (l *endings) run() {
	l.mu.Lock()
	all := l.all
	l.all, l.over = nil, true
	l.mu.Unlock()
	for _, e := range all {
		defer e.f() // the newest first
	}
}
