package apple

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anekit/anekit/ane"
)

// maxStray bounds the calls of this process whose callers gave up: each keeps an
// operating-system thread and the memory that it uses.
const maxStray = 16

// patience is how long a call without a deadline of its own waits for one that
// does not come back.
const patience = 30 * time.Second

// process counts the calls whose callers gave up, and knows the locks of surfaces. It
// is the one mutable state of this package and a fact of the process, since threads
// and surfaces are.
var process struct {
	strays atomic.Int64

	mu    sync.Mutex // guards what follows, and is held while strays falls
	ends  []func()   // of programs that were closed while maxStray calls were out
	locks map[uintptr]*lock
}

// postpone has end run in the place of the next call that comes back, if no more
// calls may be out; else it returns false. What ends a program calls the framework,
// which may hang too.
func postpone(end func()) bool {
	process.mu.Lock()
	defer process.mu.Unlock()
	if process.strays.Load() < maxStray {
		return false
	}
	process.ends = append(process.ends, end)
	return true
}

// vacate gives up the place of a call that has come back, or returns what is to run
// in it.
func vacate() (end func()) {
	process.mu.Lock()
	defer process.mu.Unlock()
	if len(process.ends) == 0 {
		process.strays.Add(-1)
		return nil
	}
	end, process.ends = process.ends[0], process.ends[1:]
	return end
}

// strays are the calls of one program that are out although nobody waits for
// them any more. The program ends when it was closed and none is out.
type strays struct {
	end func() // what ends the program; nil for none

	count  atomic.Int32
	mu     sync.Mutex
	closed bool
	zero   chan struct{} // closed when count falls to 0, while somebody waits
}

func (s *strays) add() {
	process.strays.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count.Add(1)
}

func (s *strays) done() {
	for end := s.leave(); end != nil; end = vacate() {
		end()
	}
}

// leave takes one call off and returns what is to run in its place.
func (s *strays) leave() (end func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed && s.end != nil && s.count.Load() == 1 {
		end = s.end
	} else {
		end = vacate()
	}
	if s.count.Add(-1) == 0 && s.zero != nil {
		close(s.zero)
		s.zero = nil
	}
	return end
}

// close reports whether the caller may end the program now; else the last call
// that comes back does.
func (s *strays) close() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return s.count.Load() == 0
}

// wait returns when no call is out, or an error when that takes too long.
func (s *strays) wait(ctx context.Context, op, engine string) error {
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

// stuck is the error of a call that waited in vain for an earlier one; cause, the
// end of its context, may be nil.
func stuck(op, engine string, cause error) error {
	return &ane.Error{Op: op, Engine: engine, Err: ane.Because(ane.ErrStuck, cause),
		Hint: "compile the program again on a new Model, or wait"}
}

// room refuses another call that might have to be given up.
func room(op, engine string) error {
	if n := process.strays.Load(); n >= maxStray {
		return &ane.Error{Op: op, Engine: engine, Err: ane.ErrExhausted,
			Detail: fmt.Sprintf("%d calls have not come back from the engine", n), Hint: "restart the process"}
	}
	return nil
}

// await runs f, which cannot be cancelled, until it returns or ctx ends. In the
// latter case out is true and f goes on: late gets its error, in another
// goroutine, and the call counts as a stray until late has returned.
func await(ctx context.Context, op, engine string, s *strays, f func() error, late func(error)) (out bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, ane.Deadline(op, engine, err)
	}
	if ctx.Done() == nil {
		return false, f()
	}
	if err := room(op, engine); err != nil {
		return false, err
	}
	return attend(ctx, op, engine, s, f, late)
}

// attend is await for calls that have to be made even when ctx has ended or too many
// are out.
func attend(ctx context.Context, op, engine string, s *strays, f func() error, late func(error)) (out bool, err error) {
	var mu sync.Mutex
	answered, given := false, false
	back := make(chan error, 1)
	go func() {
		err := f()
		mu.Lock()
		answered = true
		stray := given
		mu.Unlock()
		if stray {
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
	if answered {
		return false, <-back
	}
	given = true
	s.add()
	return true, ane.Deadline(op, engine, ctx.Err())
}
