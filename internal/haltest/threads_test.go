package haltest

import (
	"context"
	"errors"
	"time"

	"github.com/anekit/anekit/ane/hal"
)

// threads is the family semaphore_thread: one goroutine waits and another one signals.
func threads() []testCase {
	return []testCase{
		{"semaphore_thread/PingPong", func(r *rig) {
			s, u := r.NewSemaphore(0), r.NewSemaphore(0)
			answering := start(func() error {
				if err := r.Wait(s, r.ctx, 1); err != nil {
					return err
				}
				return r.Signal(u, 1)
			})
			r.ok(r.Signal(s, 1))
			r.ok(r.Wait(u, r.ctx, 1))
			r.ok(<-answering)
		}},
		{"semaphore_thread/ManyWaiters", func(r *rig) {
			s := r.NewSemaphore(0)
			var waiting [64]<-chan error
			for i := range waiting {
				waiting[i] = start(func() error { return r.Wait(s, r.ctx, uint64(i+1)) })
			}
			for i := range waiting {
				r.ok(r.Signal(s, uint64(i+1)))
			}
			for _, w := range waiting {
				r.ok(<-w)
			}
		}},
		{"semaphore_thread/WaitThenFail", func(r *rig) {
			s := r.NewSemaphore(0)
			waiting := start(func() error { return r.Wait(s, r.ctx, 5) })
			r.Fail(s, errCause)
			r.is(<-waiting, errCause)
		}},
		{"semaphore_thread/WaitLaterSignaledBeyond", func(r *rig) {
			s := r.NewSemaphore(2)
			waiting := start(func() error { return r.Wait(s, r.ctx, 3) })
			r.ok(r.Signal(s, 10))
			r.ok(<-waiting)
		}},
		{"semaphore_thread/WaitAnyLaterSignaled", func(r *rig) {
			s, u := r.NewSemaphore(0), r.NewSemaphore(0)
			reached, waiting := r.startAny(s, u)
			r.ok(r.Signal(u, 1))
			r.ok(<-waiting)
			r.that(*reached == 1, "point 1 is reached")
		}},
		{"semaphore_thread/WaitOnTheSameValueMultipleTimes", func(r *rig) {
			s := r.NewSemaphore(0)
			signaling := start(func() error { return r.Signal(s, 1) })
			for range 2 {
				r.ok(r.Wait(s, r.ctx, 1))
				r.that(r.value(s) == 1, "the value is 1")
			}
			r.ok(<-signaling)
		}},
		{"semaphore_thread/WaitForFiniteTime", func(r *rig) {
			s := r.NewSemaphore(0)
			wait := func() error {
				ctx, cancel := context.WithTimeout(r.ctx, time.Microsecond)
				defer cancel()
				return r.Wait(s, ctx, 1)
			}
			r.is(wait(), context.DeadlineExceeded)
			r.that(r.value(s) == 0, "a wait that ends changes nothing")
			signaling := start(func() error { return r.Signal(s, 1) })
			err := wait()
			for errors.Is(err, context.DeadlineExceeded) && r.ctx.Err() == nil {
				err = wait()
			}
			r.ok(err)
			r.ok(<-signaling)
		}},
		{"semaphore_thread/SimultaneousMultiWaitAll", func(r *rig) {
			s, u := r.NewSemaphore(0), r.NewSemaphore(0)
			wait := func() error { return r.WaitAll(r.ctx, both(s, u)...) }
			first, second := start(wait), start(wait)
			r.ok(r.Signal(s, 1))
			r.ok(r.Signal(u, 1))
			r.ok(<-first)
			r.ok(<-second)
		}},
		{"semaphore_thread/MultiWaitThenFail", func(r *rig) {
			s, u := r.NewSemaphore(0), r.NewSemaphore(0)
			waiting := start(func() error { return r.WaitAll(r.ctx, both(s, u)...) })
			reached, first := r.startAny(s, u)
			r.Fail(s, errCause)
			r.is(<-waiting, hal.ErrFailed, errCause)
			r.is(<-first, hal.ErrFailed, errCause)
			r.that(*reached == 0, "point 0 has failed")
			r.that(r.value(u) == 0, "the other semaphore does not change")
		}},
	}
}

// start calls f in a goroutine and returns the channel of its error.
func start(f func() error) <-chan error {
	c := make(chan error, 1)
	go func() { c <- f() }()
	return c
}

// startAny starts a WaitAny for value 1 of two Semaphores. The index is valid after the error.
func (r *rig) startAny(s, u *hal.Semaphore) (reached *int, waiting <-chan error) {
	reached = new(int)
	return reached, start(func() (err error) {
		*reached, err = r.WaitAny(r.ctx, both(s, u)...)
		return err
	})
}
