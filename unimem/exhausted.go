package unimem

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// OnExhausted has free called when the system refuses memory with ErrExhausted. free closes
// what its owner can do without, such as the surfaces of idle requests, and returns how many
// surfaces that gave back. If the functions gave back any, the refused call is made once
// more; it fails only if the system refuses again.
//
// The goroutine whose call was refused calls the functions, each once, in the order of their
// registration, holding no lock of this package: free may close Blocks, Tapes, Grids, Layouts
// and Mappings, and may call OnExhausted and cancel. The functions never run twice at the same
// time: a call that is refused meanwhile waits for their end, at most 2 s, and shares the
// result. So free opens no memory, and waits for no lock or goroutine of a caller that may
// be opening memory. A panic of free reaches the caller of the refused call, which leaves
// nothing open; the functions after it are not called.
//
// cancel ends the registration; repeating it does nothing. It does not wait: a call of free
// that has begun goes on. A nil free is never called.
func OnExhausted(free func() int) (cancel func()) {
	if free == nil {
		return func() {}
	}
	h := &holder{free}
	process.exhaustion.add(h)
	return func() { process.exhaustion.remove(h) }
}

// patience bounds the wait for functions that another goroutine calls. Only one that waits
// for the waiting caller takes so long.
const patience = 2 * time.Second

// exhaustion is where idle memory can be had from.
type exhaustion struct {
	mu      sync.Mutex // not held during a call of a holder
	holders []*holder  // in the order of registration
	round   *round     // under way, or nil
}

// holder is one registration.
type holder struct{ free func() int }

// round is one pass over the holders.
type round struct {
	holders []*holder
	over    chan struct{} // closed at the end
	freed   int           // surfaces; others read it after the end
}

func (x *exhaustion) add(h *holder) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.holders = append(x.holders, h)
}

// remove makes a new list, for rounds read the old one.
func (x *exhaustion) remove(h *holder) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.holders = slices.DeleteFunc(slices.Clone(x.holders), func(other *holder) bool { return other == h })
}

func (x *exhaustion) has(h *holder) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.Contains(x.holders, h)
}

// reclaim returns how many surfaces the holders gave back, in a round of its own or in the
// one that is under way.
func (x *exhaustion) reclaim() int {
	r, mine := x.join()
	if !mine {
		return r.wait()
	}
	defer x.end(r) // after a panic too
	for _, h := range r.holders {
		if x.has(h) {
			r.freed += max(h.free(), 0)
		}
	}
	return r.freed
}

// join returns the round under way, or a new one, which is the caller's to run and to end.
func (x *exhaustion) join() (r *round, mine bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.round != nil {
		return x.round, false
	}
	x.round = &round{holders: x.holders, over: make(chan struct{})}
	return x.round, true
}

func (x *exhaustion) end(r *round) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.round = nil
	close(r.over)
}

// wait returns the result of another goroutine's round, 0 when it does not end in time.
func (r *round) wait() int {
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-r.over:
		return r.freed
	case <-late.C:
		return 0
	}
}

// recovering makes a call that may be exhausted, and once more if holders gave memory back.
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

// tellOpen adds to an exhausted Error what this process has open.
func tellOpen(err error, freed int) error {
	var e *Error
	if !errors.Is(err, ErrExhausted) || !errors.As(err, &e) {
		return err
	}
	s := Live()
	open := fmt.Sprintf("open in this process: Blocks %d (%d bytes), Mappings %d", s.Blocks, s.Bytes, s.Mappings)
	if freed > 0 {
		open += fmt.Sprintf(", idle surfaces given back %d", freed)
	}
	e.Hint = open + "; " + e.Hint
	return err
}

// exhausted marks what a system said that has nothing left to give.
func exhausted(cause error) error { return fmt.Errorf("%w: %w", ErrExhausted, cause) }
