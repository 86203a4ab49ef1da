package unimem

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// OnExhausted registers free, which is called when the system refuses memory with ErrExhausted. free closes idle
// memory, such as the surfaces of idle requests, and returns the number of surfaces that it freed. If the functions
// freed any, the refused call is retried once.
//
// The goroutine whose call was refused calls the functions, each once, in the order of their registration, without
// holding a lock of this package. free may close Blocks, Tapes, Grids, Layouts and Mappings, and may call OnExhausted
// and cancel. The functions never run concurrently: a call that is refused while they run waits until they end, at most
// 2 s, and shares the result. So free must not open memory, and must not wait for a lock or goroutine of a caller that
// may be opening memory. A panic of free reaches the caller of the refused call, which leaks nothing; the functions
// after it are not called.
//
// cancel removes the registration; repeating it does nothing. It does not wait for a running call of free. A nil free
// is never called.
func OnExhausted(free func() int) (cancel func()) {
	if free == nil {
		return func() {}
	}
	remove, _ := process.exhaustion.add(free)
	return func() { remove() }
}

// patience is the time limit to wait for functions that another goroutine calls. Only a function that waits for the
// waiting caller takes so long.
const patience = 2 * time.Second

// exhaustion has the functions that free idle memory.
type exhaustion struct {
	hooks[func() int]
	round *round // the running round, or nil; hooks.mu guards it
}

// round is one pass over the functions.
type round struct {
	over  chan struct{} // closed at the end
	freed int           // number of surfaces; other goroutines read it after the end
}

// reclaim returns the number of surfaces that the functions freed, in a new round or in the running one, and 0 if that
// does not end in time.
func (x *exhaustion) reclaim() int {
	r, mine := x.join()
	if !mine {
		select {
		case <-r.over:
			return r.freed
		case <-time.After(patience):
			return 0
		}
	}
	defer x.end(r) // after a panic too
	for _, free := range x.list() {
		if slices.Contains(x.list(), free) { // not canceled meanwhile
			r.freed += max((*free)(), 0)
		}
	}
	return r.freed
}

// join returns the running round, or a new one (mine), which the caller must run and end.
func (x *exhaustion) join() (r *round, mine bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.round != nil {
		return x.round, false
	}
	x.round = &round{over: make(chan struct{})}
	return x.round, true
}

func (x *exhaustion) end(r *round) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.round = nil
	close(r.over)
}

// recovering calls call, and retries once if it fails with ErrExhausted and holders freed memory.
func recovering[T any](call func() (T, error)) (T, error) {
	v, err := call()
	if !errors.Is(err, ErrExhausted) {
		return v, err
	}
	freed := process.exhaustion.reclaim()
	if freed > 0 {
		v, err = call()
	}
	return v, tellOpen(err, freed)
}

// tellOpen adds what this process has open to an error that matches ErrExhausted.
func tellOpen(err error, freed int) error {
	var e *Error
	if !errors.Is(err, ErrExhausted) || !errors.As(err, &e) {
		return err
	}
	s := Live()
	open := fmt.Sprintf("open in this process: Blocks %d (%d bytes), Mappings %d", s.Blocks, s.Bytes, s.Mappings)
	if freed > 0 {
		open += fmt.Sprintf(", idle surfaces freed %d", freed)
	}
	e.Hint = open + "; " + e.Hint
	return err
}

// exhausted wraps an error of a system that has no more memory.
func exhausted(cause error) error { return fmt.Errorf("%w: %w", ErrExhausted, cause) }
