package haltest

import (
	"context"

	"github.com/anekit/anekit/ane/hal"
)

// submissions is the family semaphore_submission.
func submissions() []testCase {
	return []testCase{
		{"semaphore_submission/SubmitWithNoCommandBuffers", func(r *rig) {
			s := r.NewSemaphore(0)
			r.submit(nil, at(s, 1))
			r.ok(r.Wait(s, r.ctx, 1))
		}},
		{"semaphore_submission/SubmitWithWait", func(r *rig) {
			s, u := r.NewSemaphore(0), r.NewSemaphore(0)
			b := r.buffer(1)
			r.submit(at(s, 2), at(u, 1), r.fills(b.Range(0, 1), 1))
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
			r.submit(both(s, u), append(at(v, 1), at(w, 5)...))
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
				r.submit(at(s, v), at(s, v+1), r.fills(b.Range(0, 1), byte(v)))
			}
			r.ok(r.Signal(s, 1))
			r.ok(r.Wait(s, r.ctx, 4))
			r.same(r.Bytes(b), []byte{3})
		}},
		{"semaphore_submission/PropagateFailSignal", func(r *rig) {
			s, u, v := r.NewSemaphore(0), r.NewSemaphore(0), r.NewSemaphore(0)
			b := r.buffer(1)
			r.submit(both(r.NewSemaphore(0), s), at(u, 1), r.fills(b.Range(0, 1), 1))
			r.submit(at(u, 1), at(v, 1))
			r.Fail(s, errCause)
			r.is(r.Wait(v, r.ctx, 1), hal.ErrFailed, errCause)
			r.same(r.Bytes(b), []byte{0})
		}},
		{"semaphore_submission/BackwardsFails", func(r *rig) {
			s := r.NewSemaphore(5)
			r.submit(nil, at(s, 4))
			r.is(r.Wait(s, r.ctx, 6), hal.ErrFailed, hal.ErrBackwards)
		}},
		{"semaphore_submission/ContextEnds", func(r *rig) {
			s, u := r.NewSemaphore(0), r.NewSemaphore(0)
			ctx, cancel := context.WithCancel(context.Background())
			r.ok(r.Execute(r.q, ctx, at(s, 1), at(u, 1)))
			cancel()
			r.is(r.Wait(u, r.ctx, 1), hal.ErrFailed, context.Canceled)
		}},
		{"semaphore_submission/WaitAllHostAndDeviceSemaphores", func(r *rig) {
			p := r.hostAndDevice()
			r.ok(r.Signal(p.waits, 1))
			r.ok(r.Signal(p.deviceWaits, 1))
			r.ok(r.WaitAll(r.ctx, both(p.signals, p.deviceSignals)...))
			r.ok(<-p.ends)
		}},
		{"semaphore_submission/WaitAnyHostAndDeviceSemaphoresAndDeviceSignals", func(r *rig) {
			p := r.hostAndDevice()
			r.ok(r.Signal(p.deviceWaits, 1))
			i, err := r.WaitAny(r.ctx, both(p.signals, p.deviceSignals)...)
			r.ok(err)
			r.that(i == 1 && r.value(p.signals) == 0, "the device has signaled, the host has not")
			r.ok(r.Signal(p.waits, 1))
			r.ok(<-p.ends)
		}},
		{"semaphore_submission/WaitAnyHostAndDeviceSemaphoresAndHostSignals", func(r *rig) {
			p := r.hostAndDevice()
			r.ok(r.Signal(p.waits, 1))
			i, err := r.WaitAny(r.ctx, both(p.signals, p.deviceSignals)...)
			r.ok(err)
			r.that(i == 0 && r.value(p.deviceSignals) == 0, "the host has signaled, the device has not")
			r.ok(<-p.ends)
			r.ok(r.Signal(p.deviceWaits, 1))
			r.ok(r.Wait(p.deviceSignals, r.ctx, 1))
		}},
		{"semaphore_submission/IntermediateSemaphoreBetweenDeviceBatches", func(r *rig) {
			s, u := r.NewSemaphore(0), r.NewSemaphore(0)
			r.submit(at(s, 1), at(u, 1), r.empty())
			r.settle()
			r.that(r.value(s) == 0 && r.value(u) == 0, "neither has begun")
			r.submit(nil, at(s, 1), r.empty())
			r.ok(r.Wait(s, r.ctx, 1))
			r.ok(r.Wait(u, r.ctx, 1))
		}},
		{"semaphore_submission/TwoBatchesWaitingOn1FormerBatchAmongst2", func(r *rig) {
			s, u, v := r.NewSemaphore(0), r.NewSemaphore(0), r.NewSemaphore(0)
			r.submit(at(s, 1), at(v, 1), r.empty())
			r.submit(at(s, 1), at(u, 1), r.empty())
			r.submit(nil, nil, r.empty())
			r.settle()
			r.that(r.value(s)+r.value(u)+r.value(v) == 0, "the batch without signals starts none")
			r.submit(nil, at(s, 1), r.empty())
			r.ok(r.WaitAll(r.ctx, both(u, v)...))
		}},
		{"semaphore_submission/TwoBatchesWaitingOnDifferentSemaphoreValues", func(r *rig) {
			s, u, v := r.NewSemaphore(0), r.NewSemaphore(0), r.NewSemaphore(0)
			r.submit(at(s, 2), at(v, 1), r.empty())
			r.submit(at(s, 1), at(u, 1), r.empty())
			r.settle()
			r.that(r.value(s)+r.value(u)+r.value(v) == 0, "none has begun")
			r.submit(nil, at(s, 3), r.empty())
			r.ok(r.WaitAll(r.ctx, both(u, v)...))
			r.that(r.value(s) == 3, "the value is 3")
		}},
		{"semaphore_submission/BatchWaitingOnAnotherAndHostSignal", func(r *rig) {
			s, u, v := r.NewSemaphore(0), r.NewSemaphore(0), r.NewSemaphore(0)
			r.submit(both(s, u), at(v, 1), r.empty())
			r.submit(nil, at(s, 1), r.empty())
			r.ok(r.Wait(s, r.ctx, 1))
			r.settle()
			r.that(r.value(v) == 0, "the host has not signaled")
			r.ok(r.Signal(u, 1))
			r.ok(r.Wait(v, r.ctx, 1))
		}},
		{"semaphore_submission/DeviceBatchSignalAnotherAndHost", func(r *rig) {
			s, u, v := r.NewSemaphore(0), r.NewSemaphore(0), r.NewSemaphore(0)
			r.submit(at(s, 1), at(v, 1), r.empty())
			waiting := start(func() error { return r.WaitAll(r.ctx, append(both(s, u), at(v, 1)...)...) })
			r.submit(nil, both(s, u), r.empty())
			r.ok(<-waiting)
		}},
		{"semaphore_submission/BatchWaitingOnSmallerValue", func(r *rig) {
			s, u, v := r.NewSemaphore(0), r.NewSemaphore(0), r.NewSemaphore(0)
			r.submit(at(s, 1), at(u, 1), r.empty())
			r.ok(r.Signal(s, 2))
			r.submit(at(s, 1), at(v, 1), r.empty())
			r.ok(r.Wait(u, r.ctx, 1))
			r.ok(r.Wait(v, r.ctx, 1))
		}},
	}
}

// pair is a goroutine and a submission that each wait and then signal.
type pair struct {
	waits, signals, deviceWaits, deviceSignals *hal.Semaphore
	ends                                       <-chan error // of the goroutine
}

func (r *rig) hostAndDevice() pair {
	p := pair{r.NewSemaphore(0), r.NewSemaphore(0), r.NewSemaphore(0), r.NewSemaphore(0), nil}
	r.submit(at(p.deviceWaits, 1), at(p.deviceSignals, 1), r.empty())
	p.ends = start(func() error {
		if err := r.Wait(p.waits, r.ctx, 1); err != nil {
			return err
		}
		return r.Signal(p.signals, 1)
	})
	r.that(r.value(p.signals) == 0 && r.value(p.deviceSignals) == 0, "neither has begun")
	return p
}
