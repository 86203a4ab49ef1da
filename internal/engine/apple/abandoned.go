package apple

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anekit/anekit/ane"
)

// maxAbandoned bounds the abandoned calls of this process. Each keeps an
// operating-system thread and the memory that it uses.
const maxAbandoned = 16

// patience is how long a call without a deadline waits for an earlier call that does
// not return.
const patience = 30 * time.Second

// process counts the abandoned calls and has the locks of surfaces. It is the only
// mutable state of this package and belongs to the process, as threads and surfaces
// do.
var process struct {
	abandoned atomic.Int64

	mu       sync.Mutex       // guards the fields below and decrements of abandoned
	releases []func()         // of programs closed while the process had maxAbandoned calls
	locks    map[uint32]*lock // by the surface's ID
}

// postpone has the next abandoned call that returns run release, if the process has
// reached the maximum. Otherwise it returns false. release calls the framework and
// may hang itself.
func postpone(release func()) bool {
	process.mu.Lock()
	defer process.mu.Unlock()
	if process.abandoned.Load() < maxAbandoned {
		return false
	}
	process.releases = append(process.releases, release)
	return true
}

// freeSlot frees the slot of an abandoned call that has returned, or returns the
// function to run in it.
func freeSlot() (release func()) {
	process.mu.Lock()
	defer process.mu.Unlock()
	if len(process.releases) == 0 {
		process.abandoned.Add(-1)
		return nil
	}
	release, process.releases = process.releases[0], process.releases[1:]
	return release
}

// abandonedCalls counts the abandoned calls of one program. The program is released
// when it is closed and the count is 0.
type abandonedCalls struct {
	release func() // releases the program; nil for none

	count  atomic.Int32
	mu     sync.Mutex
	closed bool
	zero   chan struct{} // closed when count reaches 0; nil if no caller waits
}

func (s *abandonedCalls) add() {
	process.abandoned.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count.Add(1)
}

func (s *abandonedCalls) done() {
	for release := s.remove(); release != nil; release = freeSlot() {
		release()
	}
}

// remove removes one call and returns the function to run in its slot.
func (s *abandonedCalls) remove() (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed && s.release != nil && s.count.Load() == 1 {
		release = s.release
	} else {
		release = freeSlot()
	}
	if s.count.Add(-1) == 0 && s.zero != nil {
		close(s.zero)
		s.zero = nil
	}
	return release
}

// close reports whether the caller may release the program now. Otherwise the last
// call that returns does so.
func (s *abandonedCalls) close() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return s.count.Load() == 0
}

// wait waits until the count is 0. It fails if that takes too long.
func (s *abandonedCalls) wait(ctx context.Context, op, engine string) error {
	if s.count.Load() == 0 {
		return nil
	}
	s.mu.Lock()
	if s.count.Load() == 0 {
		s.mu.Unlock()
		return nil
	}
	if s.zero == nil {
		s.zero = make(chan struct{})
	}
	zero := s.zero
	s.mu.Unlock()
	t := time.NewTimer(patience)
	defer t.Stop()
	select {
	case <-zero:
		return nil
	case <-ctx.Done():
		return stuck(op, engine, ane.Because(ane.ErrDeadline, ctx.Err()))
	case <-t.C:
		return stuck(op, engine, nil)
	}
}

// stuck is the error of a call that timed out waiting for an earlier one. cause, the
// error of its context, may be nil.
func stuck(op, engine string, cause error) error {
	return &ane.Error{Op: op, Engine: engine, Err: ane.Because(ane.ErrStuck, cause),
		Hint: "compile the program again on a new Model, or wait"}
}

// room rejects a call that might be abandoned if the process has reached the maximum.
func room(op, engine string) error {
	if n := process.abandoned.Load(); n >= maxAbandoned {
		return &ane.Error{Op: op, Engine: engine, Err: ane.ErrExhausted,
			Detail: fmt.Sprintf("%d abandoned calls have not returned from the engine", n), Hint: "restart the process"}
	}
	return nil
}

// await runs f, which cannot be cancelled, until it returns or ctx ends. If ctx ends
// first, abandoned is true and f continues: another goroutine calls late with its
// error. The call counts as abandoned until late has returned.
func await(ctx context.Context, op, engine string, s *abandonedCalls, f func() error, late func(error)) (abandoned bool,
	err error) {
	if err := ctx.Err(); err != nil {
		return false, ane.Deadline(op, engine, err)
	}
	if ctx.Done() == nil {
		return false, f()
	}
	if err := room(op, engine); err != nil {
		return false, err
	}
	return awaitUnchecked(ctx, op, engine, s, f, late)
}

// awaitUnchecked is await for calls that must be made even if ctx has ended or the
// process has reached the maximum of abandoned calls.
func awaitUnchecked(ctx context.Context, op, engine string, s *abandonedCalls, f func() error,
	late func(error)) (abandoned bool, err error) {
	var mu sync.Mutex
	returned, timedOut := false, false
	back := make(chan error, 1)
	go func() {
		err := f()
		mu.Lock()
		returned = true
		abandoned := timedOut
		mu.Unlock()
		if abandoned {
			defer s.done()
			late(err)
			return
		}
		back <- err
	}()
	select {
	case err := <-back:
		return false, err
	case <-ctx.Done():
	}
	mu.Lock()
	defer mu.Unlock()
	if returned {
		return false, <-back
	}
	timedOut = true
	s.add()
	return true, ane.Deadline(op, engine, ctx.Err())
}
