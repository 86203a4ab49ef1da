package haltest

import (
	"sync/atomic"

	"github.com/anekit/anekit/ane/hal"
)

// hostCalls is the family queue_host_call: OnReach calls the host between submissions.
func hostCalls() []testCase {
	return []testCase{
		{"queue_host_call/BetweenSubmissions", func(r *rig) {
			s := r.NewSemaphore(0)
			b := r.buffer(2)
			r.OnReach(s, 1, func(err error) {
				if err == nil {
					b.Bytes()[0]++
				}
				_ = r.Signal(s, 2) // the bytes are wrong after a failure
			})
			r.submit(at(s, 2), at(s, 3), r.copies(b.Range(1, 1), b.Range(0, 1)))
			r.submit(nil, at(s, 1), r.fills(b.Range(0, 1), 4))
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
		{"queue_host_call/EnqueueBeforeSignal", func(r *rig) {
			s, u := r.NewSemaphore(0), r.NewSemaphore(0)
			var calls atomic.Int32
			r.OnReach(s, 1, func(err error) { calls.Add(1); r.tell(u, 1, err) })
			r.settle()
			r.that(calls.Load() == 0, "it waits")
			r.ok(r.Signal(s, 1))
			r.ok(r.Wait(u, r.ctx, 1))
			r.that(calls.Load() == 1, "it is called once")
		}},
		{"queue_host_call/NoWaitSemaphores", func(r *rig) {
			u := r.NewSemaphore(0)
			r.that(!r.OnReach(r.NewSemaphore(1), 1, func(err error) { r.tell(u, 1, err) })(), "it is called at once")
			r.ok(r.Wait(u, r.ctx, 1))
		}},
		{"queue_host_call/NonBlockingFlag", func(r *rig) {
			s, u, free := r.NewSemaphore(0), r.NewSemaphore(0), make(chan struct{})
			defer close(free)
			r.OnReach(s, 1, func(error) { <-free })
			r.submit(at(s, 1), at(u, 1), r.empty())
			r.ok(r.Signal(s, 1))
			r.ok(r.Wait(u, r.ctx, 1)) // a function that blocks holds back no submission
		}},
		{"queue_host_call/AsyncCallback", func(r *rig) {
			s, u, v := r.NewSemaphore(0), r.NewSemaphore(0), r.NewSemaphore(0)
			r.OnReach(s, 1, func(err error) {
				go func() { r.tell(u, 1, err); r.tell(v, 2, err) }()
			})
			r.submit(nil, at(s, 1), r.empty())
			r.ok(r.WaitAll(r.ctx, append(at(u, 1), at(v, 2)...)...))
		}},
		{"queue_host_call/CallbackReturnsError", func(r *rig) {
			s, u, v := r.NewSemaphore(1), r.NewSemaphore(0), r.NewSemaphore(0)
			r.OnReach(s, 1, func(error) { r.tell(u, 1, errCause); r.tell(v, 2, errCause) })
			r.is(r.Wait(u, r.ctx, 1), hal.ErrFailed, errCause)
			r.is(r.Wait(v, r.ctx, 2), hal.ErrFailed, errCause)
		}},
		{"queue_host_call/CallbackReturnsErrorAfterWait", func(r *rig) {
			s, u, v := r.NewSemaphore(0), r.NewSemaphore(0), r.NewSemaphore(0)
			r.OnReach(s, 1, func(error) { r.tell(u, 1, errCause) })
			r.submit(at(u, 1), at(v, 1), r.empty())
			r.submit(nil, at(s, 1), r.empty())
			r.is(r.Wait(v, r.ctx, 1), hal.ErrFailed, errCause)
		}},
	}
}

// tell signals s, or fails it with err.
func (r *rig) tell(s *hal.Semaphore, v uint64, err error) {
	if err != nil {
		r.Fail(s, err)
		return
	}
	_ = r.Signal(s, v) // after a refusal the wait of the case fails
}
