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
		{"semaphore_submission/SubmitAndSignal", func(r *rig) {
			s := r.NewSemaphore(0)
			r.submit(nil, at(s, 1), r.empty())
			r.ok(r.Wait(s, r.ctx, 1))
		}},
		{"semaphore_submission/WaitAllHostAndDeviceSemaphores", func(r *rig) {
			host := r.hostAndDevice()
			r.ok(r.Signal(host.waits, 1))
			r.ok(r.Signal(host.deviceWaits, 1))
			r.ok(r.WaitAll(r.ctx, append(at(host.signals, 1), at(host.deviceSignals, 1)...)...))
			r.ok(<-host.ends)
		}},
		{"semaphore_submission/WaitAnyHostAndDeviceSemaphoresAndDeviceSignals", func(r *rig) {
			host := r.hostAndDevice()
			r.ok(r.Signal(host.deviceWaits, 1))
			i, err := r.WaitAny(r.ctx, append(at(host.signals, 1), at(host.deviceSignals, 1)...)...)
			r.ok(err)
			r.that(i == 1 && r.value(host.signals) == 0, "the device has signaled, the host has not")
			r.ok(r.Signal(host.waits, 1))
			r.ok(<-host.ends)
		}},
		{"semaphore_submission/WaitAnyHostAndDeviceSemaphoresAndHostSignals", func(r *rig) {
			host := r.hostAndDevice()
			r.ok(r.Signal(host.waits, 1))
			i, err := r.WaitAny(r.ctx, append(at(host.signals, 1), at(host.deviceSignals, 1)...)...)
			r.ok(err)
			r.that(i == 0 && r.value(host.deviceSignals) == 0, "the host has signaled, the device has not")
			r.ok(<-host.ends)
			r.ok(r.Signal(host.deviceWaits, 1))
			r.ok(r.Wait(host.deviceSignals, r.ctx, 1))
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
			r.ok(r.WaitAll(r.ctx, append(at(u, 1), at(v, 1)...)...))
		}},
		{"semaphore_submission/TwoBatchesWaitingOnDifferentSemaphoreValues", func(r *rig) {
			s, u, v := r.NewSemaphore(0), r.NewSemaphore(0), r.NewSemaphore(0)
			r.submit(at(s, 2), at(v, 1), r.empty())
			r.submit(at(s, 1), at(u, 1), r.empty())
			r.settle()
			r.that(r.value(s)+r.value(u)+r.value(v) == 0, "none has begun")
			r.submit(nil, at(s, 3), r.empty())
			r.ok(r.WaitAll(r.ctx, append(at(u, 1), at(v, 1)...)...))
			r.that(r.value(s) == 3, "the value is 3")
		}},
		{"semaphore_submission/BatchWaitingOnAnotherAndHostSignal", func(r *rig) {
			s, u, v := r.NewSemaphore(0), r.NewSemaphore(0), r.NewSemaphore(0)
			r.submit(append(at(s, 1), at(u, 1)...), at(v, 1), r.empty())
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
			all := append(append(at(s, 1), at(u, 1)...), at(v, 1)...)
			waiting := start(func() error { return r.WaitAll(r.ctx, all...) })
			r.submit(nil, append(at(s, 1), at(u, 1)...), r.empty())
			r.ok(<-waiting)
		}},
		{"semaphore_submission/BatchWaitingOnSmallerValueAfterSignaled", func(r *rig) {
			s, u := r.NewSemaphore(0), r.NewSemaphore(0)
			r.ok(r.Signal(s, 2))
			r.submit(at(s, 1), at(u, 1), r.empty())
			r.ok(r.Wait(u, r.ctx, 1))
		}},
		{"semaphore_submission/BatchWaitingOnSmallerValueBeforeSignaled", func(r *rig) {
			s, u := r.NewSemaphore(0), r.NewSemaphore(0)
			r.submit(at(s, 1), at(u, 1), r.empty())
			r.ok(r.Signal(s, 2))
			r.ok(r.Wait(u, r.ctx, 1))
		}},
	}
}

// submit executes command buffers and does not wait.
func (r *rig) submit(waits, signals []hal.Point, c ...*hal.CommandBuffer) {
	r.ok(r.Execute(r.q, context.Background(), waits, signals, c...))
}

// empty makes a CommandBuffer without commands.
func (r *rig) empty() *hal.CommandBuffer { return r.record(hal.OneShot, func(*hal.CommandBuffer) {}) }

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
