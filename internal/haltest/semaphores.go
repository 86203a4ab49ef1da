package haltest

import (
	"context"
	"errors"

	"github.com/anekit/anekit/ane/hal"
)

// semaphores is the family semaphore: what one goroutine sees.
func semaphores() []testCase {
	return []testCase{
		{"semaphore/NoOp", func(r *rig) {
			r.that(r.value(r.NewSemaphore(123)) == 123, "the initial value is 123")
		}},
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
			r.Fail(s, errCause)
			r.Fail(s, context.Canceled)
			r.is(r.Signal(s, 2), hal.ErrFailed, errCause)
			_, err := r.Value(s)
			r.is(err, hal.ErrFailed, errCause)
			r.is(r.Wait(s, ended(), 2), hal.ErrFailed, errCause)
			r.ok(r.Wait(s, ended(), 1))
		}},
		{"semaphore/WaitAlreadySignaled", func(r *rig) {
			s := r.NewSemaphore(3)
			r.ok(r.Wait(s, ended(), 2))
			r.ok(r.Wait(s, ended(), 3))
			r.is(r.Wait(s, ended(), 4), context.Canceled)
		}},
		{"semaphore/WaitAll", func(r *rig) {
			s, u := r.NewSemaphore(1), r.NewSemaphore(0)
			points := []hal.Point{{Semaphore: s, Value: 1}, {Semaphore: u, Value: 1}}
			r.ok(r.WaitAll(ended()))
			r.is(r.WaitAll(ended(), points...), context.Canceled)
			r.ok(r.Signal(u, 1))
			r.ok(r.WaitAll(ended(), points...))
			r.Fail(u, errCause)
			r.is(r.WaitAll(r.ctx, hal.Point{Semaphore: s, Value: 9}, hal.Point{Semaphore: u, Value: 9}), errCause)
		}},
		{"semaphore/WaitAny", func(r *rig) {
			s, u := r.NewSemaphore(0), r.NewSemaphore(1)
			points := []hal.Point{{Semaphore: s, Value: 1}, {Semaphore: u, Value: 1}}
			i, err := r.WaitAny(r.ctx, points...)
			r.ok(err)
			r.that(i == 1, "point 1 is reached")
			i, err = r.WaitAny(r.ctx)
			r.ok(err)
			r.that(i == -1, "-1 for no points")
			r.Fail(s, errCause)
			i, err = r.WaitAny(r.ctx, points[:1]...)
			r.is(err, errCause)
			r.that(i == 0, "point 0 has failed")
		}},
		{"semaphore/EmptyWait", func(r *rig) {
			r.ok(r.WaitAll(ended()))
			i, err := r.WaitAny(ended())
			r.ok(err)
			r.that(i == -1, "-1 for no points")
		}},
		{"semaphore/WaitUnsignaled", func(r *rig) {
			s := r.NewSemaphore(2)
			r.is(r.Wait(s, ended(), 3), context.Canceled)
			r.that(r.value(s) == 2, "the value stays")
		}},
		{"semaphore/WaitAllButNotAllSignaled", func(r *rig) {
			r.is(r.WaitAll(ended(), append(at(r.NewSemaphore(0), 1), at(r.NewSemaphore(1), 1)...)...), context.Canceled)
		}},
		{"semaphore/WaitAllAndAllSignaled", func(r *rig) {
			r.ok(r.WaitAll(ended(), append(at(r.NewSemaphore(1), 1), at(r.NewSemaphore(1), 1)...)...))
		}},
		{"semaphore/WaitAnyAlreadySignaled", func(r *rig) {
			i, err := r.WaitAny(ended(), append(at(r.NewSemaphore(0), 1), at(r.NewSemaphore(1), 1)...)...)
			r.ok(err)
			r.that(i == 1, "point 1 is reached")
		}},
		{"semaphore/FailThenWait", func(r *rig) {
			s := r.NewSemaphore(0)
			r.Fail(s, errCause)
			r.is(r.Wait(s, r.ctx, 1), hal.ErrFailed, errCause)
			_, err := r.Value(s)
			r.is(err, hal.ErrFailed, errCause)
		}},
		{"semaphore/FailurePreservesStatusCode", func(r *rig) {
			s := r.NewSemaphore(0)
			cause := &hal.CommandError{Command: 7, Op: "copy", Err: errCause}
			r.Fail(s, cause)
			_, err := r.Value(s)
			var got *hal.CommandError
			r.that(errors.As(err, &got) && got == cause, "the cause is the very error")
		}},
		{"semaphore/DoubleFailurePreservesFirst", func(r *rig) {
			s := r.NewSemaphore(0)
			r.Fail(s, errCause)
			r.Fail(s, context.Canceled)
			_, err := r.Value(s)
			r.is(err, errCause)
			r.that(!errors.Is(err, context.Canceled), "the second failure is dropped")
		}},
	}
}

// value returns the value of a Semaphore.
func (r *rig) value(s *hal.Semaphore) uint64 {
	v, err := r.Value(s)
	r.ok(err)
	return v
}
