package hal

import (
	"container/heap"
	"context"
	"fmt"
	"sync"
)

// Semaphore is a value that only grows, on which the host and submissions of any Device wait. NewSemaphore makes one;
// nothing has to be closed. Its methods are safe for concurrent use.
type Semaphore struct {
	made bool

	mu      sync.Mutex
	value   uint64
	failed  *failure
	waiters waiters
	most    uint64 // no waiter has awaited a higher value
}

// NewSemaphore makes a Semaphore with an initial value.
func NewSemaphore(initial uint64) *Semaphore { return &Semaphore{made: true, value: initial} }

// Point is a value of a Semaphore. It is reached when the Semaphore has this value or a higher one.
type Point struct {
	Semaphore *Semaphore
	Value     uint64
}

// valid reports whether NewSemaphore made s.
func (s *Semaphore) valid() bool { return s != nil && s.made }

func unmade(op string) error { return closed(op, "nil or zero Semaphore", "make it by NewSemaphore") }

// Value returns the highest value reached, and after Fail also the failure. The error of a nil or zero Semaphore
// matches ErrClosed.
func (s *Semaphore) Value() (uint64, error) {
	if !s.valid() {
		return 0, unmade("value")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed != nil {
		return s.value, s.failed
	}
	return s.value, nil
}

// Signal raises the value to v, which starts what waits for v or less. At the current value it does nothing. The error
// matches ErrBackwards below it; then the Semaphore does not change. After Fail the error is the failure.
func (s *Semaphore) Signal(v uint64) error {
	if !s.valid() {
		return unmade("signal")
	}
	todo, err := s.signal(v, work{})
	todo.run()
	return err
}

// signal is Signal, and leaves the waiters to the caller.
func (s *Semaphore) signal(v uint64, todo work) (work, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.failed != nil:
		return todo, s.failed
	case v < s.value:
		return todo, newError("signal", ErrBackwards, fmt.Sprintf("%d after %d", v, s.value), "signal values that grow")
	}
	s.value = v
	for len(s.waiters) > 0 && s.waiters[0].value <= v {
		todo = todo.push(s.waiters.remove(0))
	}
	return todo, nil
}

// Fail fails the Semaphore: values that it has not reached are never reached. The first call counts. The error of later
// calls and waits matches ErrFailed and cause, which may be nil.
func (s *Semaphore) Fail(cause error) {
	if !s.valid() {
		return
	}
	s.fail(asFailure(cause), work{}).run()
}

// fail is Fail, and leaves the waiters to the caller.
func (s *Semaphore) fail(f *failure, todo work) work {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed != nil {
		return todo
	}
	s.failed = f
	for len(s.waiters) > 0 {
		w := s.waiters.remove(len(s.waiters) - 1)
		w.err = f
		todo = todo.push(w)
	}
	return todo
}

// state reports whether v is reached, or will never be.
func (s *Semaphore) state(v uint64) (decided bool, err error) {
	if !s.valid() {
		return true, unmade("wait")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.decided(v)
}

func (s *Semaphore) decided(v uint64) (bool, error) {
	switch {
	case s.value >= v:
		return true, nil
	case s.failed != nil:
		return true, s.failed
	}
	return false, nil
}

// add registers w unless its value is decided.
func (s *Semaphore) add(w *waiter) (decided bool, err error) {
	if !s.valid() {
		return true, unmade("wait")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if decided, err := s.decided(w.value); decided {
		return true, err
	}
	heap.Push(&s.waiters, w)
	s.most = max(s.most, w.value)
	return false, nil
}

// drop removes w. If it returns false, w was decided before, with err, or never registered.
func (s *Semaphore) drop(w *waiter) (removed bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.at < 0 {
		return false, w.err
	}
	s.waiters.remove(w.at)
	return true, nil
}

// Wait waits until the value is v or higher, and returns nil then, also if ctx has ended or the Semaphore failed later.
// Otherwise it returns the failure, or the error of ctx.
func (s *Semaphore) Wait(ctx context.Context, v uint64) error {
	if decided, err := s.state(v); decided {
		return err
	}
	return WaitAll(ctx, Point{s, v})
}

// OnReach calls f once, in its own goroutine, when the value is v or higher (f gets nil), or when that can no longer
// happen (f gets the failure). cancel removes it; like that of context.AfterFunc it reports whether it prevented the
// call, and does not wait for f. A nil f is never called.
func (s *Semaphore) OnReach(v uint64, f func(error)) (cancel func() bool) {
	if f == nil {
		return func() bool { return false }
	}
	c := &call{f: f}
	c.waiter = waiter{value: v, to: c, at: -1}
	if decided, err := s.add(&c.waiter); decided {
		go f(err)
		return func() bool { return false }
	}
	return func() bool {
		removed, _ := s.drop(&c.waiter)
		return removed
	}
}

// call is a function of OnReach.
type call struct {
	waiter
	f func(error)
}

func (c *call) met(w *waiter, todo work) work {
	go c.f(w.err)
	return todo
}

// WaitAll waits until every point is reached. The first failure ends it. It returns nil if all are reached, also if ctx
// has ended; else the failure, or the error of ctx. No points are nil.
func WaitAll(ctx context.Context, points ...Point) error {
	g := group{points: points}
	defer g.drop()
	for {
		left := 0
		for _, p := range points {
			decided, err := p.Semaphore.state(p.Value)
			if err != nil {
				return err
			}
			if !decided {
				left++
			}
		}
		if left == 0 {
			return nil
		}
		if g.ended != nil {
			return g.ended
		}
		g.wait(given(ctx), left)
	}
}

// WaitAny waits until a point is reached or failed, and returns the lowest index of one, with nil or the failure. It
// returns -1 and nil for no points, -1 and the error of ctx if that ends first.
func WaitAny(ctx context.Context, points ...Point) (int, error) {
	g := group{points: points}
	defer g.drop()
	for {
		for i, p := range points {
			if decided, err := p.Semaphore.state(p.Value); decided {
				return i, err
			}
		}
		if len(points) == 0 || g.ended != nil {
			return -1, g.ended
		}
		g.wait(given(ctx), 1)
	}
}

// group is a call of WaitAll or WaitAny: its waiters send to done.
type group struct {
	points  []Point
	waiters []waiter // nil before the first wait
	one     [1]waiter
	done    chan error
	ended   error // of ctx
}

// wait waits until n more points are reached, one fails, or ctx ends.
func (g *group) wait(ctx context.Context, n int) {
	if g.ended = ctx.Err(); g.ended != nil {
		return
	}
	if g.waiters == nil {
		if g.waiters = g.one[:]; len(g.points) > 1 {
			g.waiters = make([]waiter, len(g.points))
		}
		g.done = make(chan error, len(g.points))
		for i, p := range g.points {
			w := &g.waiters[i]
			*w = waiter{value: p.Value, to: g, at: -1}
			if decided, err := p.Semaphore.add(w); decided {
				g.done <- err
			}
		}
	}
	for range n {
		select {
		case err := <-g.done:
			if err != nil {
				return
			}
		case <-ctx.Done():
			g.ended = ctx.Err()
			return
		}
	}
}

func (g *group) met(w *waiter, todo work) work {
	g.done <- w.err
	return todo
}

// drop removes the waiters.
func (g *group) drop() {
	for i := range g.waiters {
		if s := g.points[i].Semaphore; s.valid() {
			_, _ = s.drop(&g.waiters[i])
		}
	}
}
