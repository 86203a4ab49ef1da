package vulkan

import (
	"context"
	"fmt"
)

// Timeline is a timeline semaphore of Vulkan: a value that only grows, which the CPU and submissions signal and wait for.
// NewTimeline makes one.
type Timeline struct {
	object
	semaphore uint64
	last      uint64 // highest value that was signaled or submitted; guarded by the Device's mu
}

// Point is a value of a Timeline. It is reached when the Timeline has that value or a higher one.
type Point struct {
	Timeline *Timeline
	Value    uint64
}

// NewTimeline makes a Timeline with an initial value. Errors: ErrClosed, ErrLost, ErrMemory, ErrDriver.
func (d *Device) NewTimeline(initial uint64) (*Timeline, error) {
	return onDevice(context.Background(), d, "timeline", func() (*Timeline, error) {
		s, err := d.newSemaphore("timeline", initial)
		if err != nil {
			return nil, err
		}
		t := &Timeline{semaphore: s, last: initial}
		t.destroy = func(device uintptr) { d.in.destroySemaphore(device, uintptr(s), 0) }
		if err := d.add("timeline", &t.object); err != nil {
			t.destroy(d.handle)
			return nil, err
		}
		return t, nil
	}, nil)
}

// during calls f while the Timeline cannot be closed.
func (t *Timeline) during(op string, f func() error) error {
	if t == nil || t.device == nil {
		return closed(op, "Timeline")
	}
	d := t.device
	d.mu.Lock()
	err := t.hold(op, "Timeline")
	lost := d.lost
	d.mu.Unlock()
	if err != nil {
		return err
	}
	defer func() {
		d.mu.Lock()
		t.uses--
		d.mu.Unlock()
	}()
	if lost {
		return &Error{Op: op, Err: ErrLost, Hint: "close the Device and open it again"}
	}
	return f()
}

// Value returns the value. Errors: ErrClosed, ErrLost, ErrDriver.
func (t *Timeline) Value() (v uint64, err error) {
	err = t.during("value", func() error {
		var a arena
		defer a.free()
		r := t.device.in.counter(t.device.handle, uintptr(t.semaphore), put(&a, &v))
		return t.device.check("value", "vkGetSemaphoreCounterValue", r)
	})
	return v, err
}

// Signal raises the value to v, which starts what waits for v or less. Errors: ErrBackwards unless v is above every value
// that was signaled before, and every one that pending submissions signal; ErrClosed, ErrLost, ErrMemory, ErrDriver.
func (t *Timeline) Signal(v uint64) error {
	return t.during("signal", func() error {
		d := t.device
		d.mu.Lock()
		before := t.last
		err := t.raise("signal", v)
		d.mu.Unlock()
		if err != nil {
			return err
		}
		var a arena
		defer a.free()
		info := semaphoreSignal{sType: typeSemaphoreSignal, semaphore: t.semaphore, value: v}
		err = d.check("signal", "vkSignalSemaphore", d.in.signal(d.handle, put(&a, &info)))
		if err != nil {
			t.lower(v, before)
		}
		return err
	})
}

// raise records that v is or will be signaled; the caller holds mu.
func (t *Timeline) raise(op string, v uint64) error {
	if v <= t.last {
		return &Error{Op: op, Err: ErrBackwards, Hint: fmt.Sprintf("%d after %d: signal values that grow", v, t.last)}
	}
	t.last = v
	return nil
}

// lower takes back a value that was not signaled, unless a higher one was.
func (t *Timeline) lower(v, before uint64) {
	t.device.mu.Lock()
	defer t.device.mu.Unlock()
	if t.last == v {
		t.last = before
	}
}

// Wait waits until the value is v or higher. Errors: that of ctx, ErrClosed, ErrLost, ErrMemory, ErrDriver.
func (t *Timeline) Wait(ctx context.Context, v uint64) error {
	if ctx == nil {
		ctx = context.Background()
	}
	return t.during("wait", func() error { return t.device.await(ctx, "wait", t.semaphore, v) })
}

// Close destroys the Timeline, once; repeating it returns nil. The error is ErrInUse while a submission or a call waits
// for it or is to signal it.
func (t *Timeline) Close() error {
	if t == nil || t.device == nil {
		return nil
	}
	return t.close("Timeline")
}
