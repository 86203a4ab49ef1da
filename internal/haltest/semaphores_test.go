package haltest

import (
	"context"
	"errors"

	"github.com/anekit/anekit/ane/hal"
	"github.com/anekit/anekit/internal/step"
)

// semaphores is the family semaphore: what one goroutine sees.
func semaphores() []testCase {
	return []testCase{
		{"semaphore/NormalSignaling", func(r *rig) {
			s := r.NewSemaphore(7)
			r.that(r.value(s) == 7, "the initial value is 7")
			r.ok(r.Signal(s, 9))
			r.that(r.value(s) == 9, "the value is 9")
			r.ok(r.Signal(s, 9))
		}},
		{"semaphore/Backwards", func(r *rig) {
			s := r.NewSemaphore(7)
			r.is(r.Signal(s, 6), hal.ErrBackwards)
			r.that(r.value(s) == 7, "the value stays")
		}},
		{"semaphore/Failure", func(r *rig) {
			s := r.NewSemaphore(1)
			cause := &hal.CommandError{Command: 7, Op: "copy", Err: errCause}
			r.Fail(s, cause)
			r.Fail(s, context.Canceled)
			r.is(r.Signal(s, 2), hal.ErrFailed, errCause)
			_, err := s.Value()
			r.is(err, hal.ErrFailed, errCause)
			var got *hal.CommandError
			r.that(errors.As(err, &got) && got == cause, "the cause is the very error")
			r.that(!errors.Is(err, context.Canceled), "the second failure is dropped")
			r.is(r.Wait(s, ended(), 2), hal.ErrFailed, errCause)
			r.is(r.Wait(s, r.ctx, 2), hal.ErrFailed, errCause)
			r.ok(r.Wait(s, ended(), 1))
		}},
		{"semaphore/WaitAlreadySignaled", func(r *rig) {
			s := r.NewSemaphore(3)
			r.ok(r.Wait(s, ended(), 2))
			r.ok(r.Wait(s, ended(), 3))
			r.is(r.Wait(s, ended(), 4), context.Canceled)
			r.that(r.value(s) == 3, "the value stays")
		}},
		{"semaphore/WaitAll", func(r *rig) {
			s, u := r.NewSemaphore(1), r.NewSemaphore(0)
			r.ok(r.WaitAll(ended()))
			r.is(r.WaitAll(ended(), both(s, u)...), context.Canceled)
			r.is(r.WaitAll(ended(), both(u, s)...), context.Canceled)
			r.ok(r.Signal(u, 1))
			r.ok(r.WaitAll(ended(), both(s, u)...))
			r.Fail(u, errCause)
			r.is(r.WaitAll(r.ctx, hal.Point{Semaphore: s, Value: 9}, hal.Point{Semaphore: u, Value: 9}), errCause)
		}},
		{"semaphore/WaitAny", func(r *rig) {
			s, u := r.NewSemaphore(0), r.NewSemaphore(1)
			for _, ctx := range []context.Context{r.ctx, ended()} {
				i, err := r.WaitAny(ctx, both(s, u)...)
				r.ok(err)
				r.that(i == 1, "point 1 is reached")
				i, err = r.WaitAny(ctx)
				r.ok(err)
				r.that(i == -1, "-1 for no points")
			}
			r.Fail(s, errCause)
			i, err := r.WaitAny(r.ctx, at(s, 1)...)
			r.is(err, errCause)
			r.that(i == 0, "point 0 has failed")
		}},
	}
}

// value returns the value of a Semaphore.
func (r *rig) value(s *hal.Semaphore) uint64 { return step.Must(s.Value()) }
