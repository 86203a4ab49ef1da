package haltest

import (
	"context"
	"sync"

	"github.com/anekit/anekit/ane/hal"
)

// semaphores are the families semaphore, semaphore_thread and semaphore_submission, and queue_host_call.
func semaphores() []testCase {
	return []testCase{
		{"semaphore/CreateAndQuery", func(r *rig) {
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
		{"semaphore/WaitAlreadyReached", func(r *rig) {
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
		{"semaphore_thread/SignalFromAnotherThread", func(r *rig) {
			s, u := r.NewSemaphore(0), r.NewSemaphore(0)
			var all sync.WaitGroup
			defer all.Wait()
			all.Go(func() {
				if r.Wait(s, r.ctx, 1) == nil {
					_ = r.Signal(u, 1) // the other thread checks it
				}
			})
			r.ok(r.Signal(s, 1))
			r.ok(r.Wait(u, r.ctx, 1))
		}},
		{"semaphore_thread/ManyWaiters", func(r *rig) {
			s := r.NewSemaphore(0)
			errs := make(chan error, 64)
			for v := range cap(errs) {
				go func() { errs <- r.Wait(s, r.ctx, uint64(v+1)) }()
			}
			for v := range cap(errs) {
				r.ok(r.Signal(s, uint64(v+1)))
			}
			for range cap(errs) {
				r.ok(<-errs)
			}
		}},
		{"semaphore_thread/FailureWakes", func(r *rig) {
			s := r.NewSemaphore(0)
			errs := make(chan error, 1)
			go func() { errs <- r.Wait(s, r.ctx, 5) }()
			r.Fail(s, errCause)
			r.is(<-errs, errCause)
		}},
		{"semaphore_submission/SubmitWithSignal", func(r *rig) {
			s := r.NewSemaphore(0)
			r.ok(r.Execute(r.q, context.Background(), nil, at(s, 1)))
			r.ok(r.Wait(s, r.ctx, 1))
		}},
		{"semaphore_submission/SubmitWithWait", func(r *rig) {
			s, u := r.NewSemaphore(0), r.NewSemaphore(0)
			b := r.buffer(1)
			c := r.record(hal.OneShot, func(c *hal.CommandBuffer) { r.Fill(c, b.Range(0, 1), []byte{1}) })
			r.ok(r.Execute(r.q, context.Background(), at(s, 2), at(u, 1), c))
			r.ok(r.Signal(s, 1))
			r.settle()
			r.same(r.Bytes(b), []byte{0})
			r.that(r.value(u) == 0, "the submission waits")
			r.ok(r.Signal(s, 2))
			r.ok(r.Wait(u, r.ctx, 1))
			r.same(r.Bytes(b), []byte{1})
		}},
		{"semaphore_submission/SubmitWithMultipleSemaphores", func(r *rig) {
			s, u, v, w := r.NewSemaphore(0), r.NewSemaphore(0), r.NewSemaphore(0), r.NewSemaphore(0)
			r.ok(r.Execute(r.q, context.Background(), append(at(s, 1), at(u, 1)...), append(at(v, 1), at(w, 5)...)))
			r.ok(r.Signal(s, 1))
			r.that(r.value(v) == 0, "one of two waits is not reached")
			r.ok(r.Signal(u, 1))
			r.ok(r.Wait(v, r.ctx, 1))
			r.ok(r.Wait(w, r.ctx, 5))
		}},
		{"semaphore_submission/OutOfOrder", func(r *rig) {
			s := r.NewSemaphore(0)
			b := r.buffer(1)
			for v := uint64(3); v >= 1; v-- {
				c := r.record(hal.OneShot, func(c *hal.CommandBuffer) { r.Fill(c, b.Range(0, 1), []byte{byte(v)}) })
				r.ok(r.Execute(r.q, context.Background(), at(s, v), at(s, v+1), c))
			}
			r.ok(r.Signal(s, 1))
			r.ok(r.Wait(s, r.ctx, 4))
			r.same(r.Bytes(b), []byte{3})
		}},
		{"semaphore_submission/PropagateFailSignal", func(r *rig) {
			s, u, v := r.NewSemaphore(0), r.NewSemaphore(0), r.NewSemaphore(0)
			b := r.buffer(1)
			c := r.record(hal.OneShot, func(c *hal.CommandBuffer) { r.Fill(c, b.Range(0, 1), []byte{1}) })
			r.ok(r.Execute(r.q, context.Background(), append(at(r.NewSemaphore(0), 1), at(s, 1)...), at(u, 1), c))
			r.ok(r.Execute(r.q, context.Background(), at(u, 1), at(v, 1)))
			r.Fail(s, errCause)
			r.is(r.Wait(v, r.ctx, 1), hal.ErrFailed, errCause)
			r.same(r.Bytes(b), []byte{0})
		}},
		{"semaphore_submission/BackwardsFails", func(r *rig) {
			s := r.NewSemaphore(5)
			r.ok(r.Execute(r.q, context.Background(), nil, at(s, 4)))
			r.is(r.Wait(s, r.ctx, 6), hal.ErrFailed, hal.ErrBackwards)
		}},
		{"semaphore_submission/ContextEnds", func(r *rig) {
			s, u := r.NewSemaphore(0), r.NewSemaphore(0)
			ctx, cancel := context.WithCancel(context.Background())
			r.ok(r.Execute(r.q, ctx, at(s, 1), at(u, 1)))
			cancel()
			r.is(r.Wait(u, r.ctx, 1), hal.ErrFailed, context.Canceled)
		}},
		{"queue_host_call/BetweenSubmissions", func(r *rig) {
			s := r.NewSemaphore(0)
			b := r.buffer(2)
			first := r.record(hal.OneShot, func(c *hal.CommandBuffer) { r.Fill(c, b.Range(0, 1), []byte{4}) })
			second := r.record(hal.OneShot, func(c *hal.CommandBuffer) { r.Copy(c, b.Range(1, 1), b.Range(0, 1)) })
			r.OnReach(s, 1, func(err error) {
				if err == nil {
					b.Bytes()[0]++
				}
				_ = r.Signal(s, 2) // a failure shows in the bytes
			})
			r.ok(r.Execute(r.q, context.Background(), at(s, 2), at(s, 3), second))
			r.ok(r.Execute(r.q, context.Background(), nil, at(s, 1), first))
			r.ok(r.Wait(s, r.ctx, 3))
			r.same(r.Bytes(b), []byte{5, 5})
		}},
		{"queue_host_call/Once", func(r *rig) {
			s := r.NewSemaphore(0)
			got := make(chan error, 8)
			r.that(r.OnReach(s, 1, func(err error) { got <- err })(), "cancel prevents the call")
			cancel := r.OnReach(s, 1, func(error) { got <- errCause })
			r.ok(r.Signal(s, 1))
			r.ok(r.Signal(s, 2))
			select {
			case err := <-got:
				r.is(err, errCause)
			case <-r.ctx.Done():
				r.fail("the function was not called")
			}
			r.that(!cancel(), "it has been called")
			r.settle()
			r.that(len(got) == 0, "it is called once")
		}},
	}
}

// value returns the value of a Semaphore.
func (r *rig) value(s *hal.Semaphore) uint64 {
	v, err := r.Value(s)
	r.ok(err)
	return v
}
