package vulkan

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Timeline is a timeline semaphore of Vulkan: a value that only grows, which the CPU and submissions signal and wait
// for. NewTimeline makes one.
type Timeline struct {
	object
	semaphore uint64
	// The Device's mu guards these.
	last     uint64        // highest value that was signaled, or that a submission is to signal
	promised []uint64      // what submissions are to signal, ascending; some may be reached
	changed  chan struct{} // closed when last or promised changes
}

// Point is a value of a Timeline. It is reached when the Timeline has that value or a higher one.
type Point struct {
	Timeline *Timeline
	Value    uint64
}

// NewTimeline makes a Timeline with an initial value. Errors: ErrClosed, ErrLost, ErrMemory, ErrDriver.
func (d *Device) NewTimeline(initial uint64) (*Timeline, error) {
	return onDevice(context.Background(), d, "timeline", func() (*Timeline, error) {
		return d.newTimeline("timeline", initial)
	}, nil)
}

func (d *Device) newTimeline(op string, initial uint64) (*Timeline, error) {
	t := &Timeline{last: initial, changed: make(chan struct{})}
	t.destroy = func(device uintptr) { d.in.call("vkDestroySemaphore", device, uintptr(t.semaphore), 0) }
	var a arena
	defer a.free()
	kind := semaphoreType{sType: typeSemaphoreType, kind: semaphoreTimeline, initial: initial}
	info := semaphoreInfo{sType: typeSemaphore, next: put(&a, &kind)}
	err := d.do(op, "vkCreateSemaphore", d.handle, put(&a, &info), 0, put(&a, &t.semaphore))
	if err != nil {
		return nil, err
	}
	if err := d.add(op, &t.object); err != nil {
		t.destroy(d.handle)
		return nil, err
	}
	return t, nil
}

// during calls f while the Timeline cannot be closed.
func (t *Timeline) during(op string, f func() error) error {
	if t == nil || t.device == nil {
		return closed(op, "Timeline")
	}
	d := t.device
	d.mu.Lock()
	err := t.hold(op, "Timeline")
	d.mu.Unlock()
	if err != nil {
		return err
	}
	defer func() {
		d.mu.Lock()
		t.uses--
		d.mu.Unlock()
	}()
	return f()
}

// counter reads the value, and forgets promises that are reached. The caller holds mu.
func (t *Timeline) counter(op string) (now uint64, err error) {
	d := t.device
	if d.lost() {
		return 0, lost(op)
	}
	var a arena
	defer a.free()
	if err := d.do(op, "vkGetSemaphoreCounterValue", d.handle, uintptr(t.semaphore), put(&a, &now)); err != nil {
		return 0, err
	}
	t.promised = slices.DeleteFunc(t.promised, func(v uint64) bool { return v <= now })
	return now, nil
}

// Value returns the value. Errors: ErrClosed, ErrLost, ErrDriver.
func (t *Timeline) Value() (v uint64, err error) {
	err = t.during("value", func() (err error) {
		t.device.mu.Lock()
		defer t.device.mu.Unlock()
		v, err = t.counter("value")
		return err
	})
	return v, err
}

// Signal raises the value to v, which starts what waits for v or less. Errors: ErrBackwards unless v is above the value
// and below every value that pending submissions signal; ErrClosed, ErrLost, ErrMemory, ErrDriver.
func (t *Timeline) Signal(v uint64) error {
	return t.during("signal", func() error {
		d := t.device
		d.mu.Lock()
		defer d.mu.Unlock()
		now, err := t.counter("signal")
		switch {
		case err != nil:
			return err
		case v <= now:
			return backwards("signal", v, now)
		case len(t.promised) > 0 && t.promised[0] <= v:
			return newError("signal", ErrBackwards, "", fmt.Sprintf("a pending submission signals %d: signal less "+
				"than that, or wait until it has ended", t.promised[0]))
		}
		var a arena
		defer a.free()
		info := semaphoreSignal{sType: typeSemaphoreSignal, semaphore: t.semaphore, value: v}
		if err := d.do("signal", "vkSignalSemaphore", d.handle, put(&a, &info)); err != nil {
			return err
		}
		t.last = max(t.last, v)
		t.wake()
		return nil
	})
}

func backwards(op string, v, now uint64) error {
	return newError(op, ErrBackwards, "", fmt.Sprintf("%d after %d: signal values that grow", v, now))
}

// wake lets waiting calls look again; the caller holds mu.
func (t *Timeline) wake() {
	close(t.changed)
	t.changed = make(chan struct{})
}

// promise records that a submission is to signal v; the caller holds mu.
func (t *Timeline) promise(op string, v uint64) error {
	if v <= t.last {
		return backwards(op, v, t.last)
	}
	t.last = v
	t.promised = append(t.promised, v)
	t.wake()
	return nil
}

// unpromise takes back a promise that will not be kept; the caller holds mu.
func (t *Timeline) unpromise(v, before uint64) {
	if t.last == v {
		t.last = before
	}
	t.promised = slices.DeleteFunc(t.promised, func(p uint64) bool { return p == v })
	t.wake()
}

// Wait waits until the value is v or higher. Errors: that of ctx, ErrClosed, ErrLost, ErrMemory, ErrDriver.
func (t *Timeline) Wait(ctx context.Context, v uint64) error {
	_, err := t.wait(ctx, v)
	return err
}

// Next waits until the value is above v, and returns it. Errors are those of Wait.
func (t *Timeline) Next(ctx context.Context, v uint64) (uint64, error) {
	if v == ^uint64(0) {
		return 0, backwards("wait", v, v)
	}
	return t.wait(ctx, v+1)
}

// wait is Wait, and returns the value. It asks the driver only for a value that a submission has promised, and
// otherwise waits in Go: only this package signals the semaphore. The validation layer 1.3.239 reports waits for any
// other value.
func (t *Timeline) wait(ctx context.Context, v uint64) (now uint64, err error) {
	if ctx == nil {
		ctx = context.Background()
	}
	err = t.during("wait", func() error {
		d := t.device
		for slice := shortWait; ; slice = min(2*slice, longWait) {
			d.mu.Lock()
			now, err = t.counter("wait")
			i := slices.IndexFunc(t.promised, func(p uint64) bool { return p >= v })
			promised := uint64(0)
			if i >= 0 {
				promised = t.promised[i]
			}
			changed := t.changed
			d.mu.Unlock()
			switch {
			case err != nil:
				return err
			case now >= v:
				return nil
			case ctx.Err() != nil:
				return ctx.Err()
			case promised != 0:
				if _, err := t.waitSlice(promised, slice); err != nil {
					return err
				}
			default:
				slice = shortWait
				select {
				case <-changed:
				case <-d.lostSign:
				case <-ctx.Done():
				}
			}
		}
	})
	return now, err
}

// Waits of the driver end after these times, so that the caller notices the end of its context.
const (
	shortWait = 2 * time.Millisecond
	longWait  = 50 * time.Millisecond
)

// waitSlice waits once in the driver.
func (t *Timeline) waitSlice(v uint64, slice time.Duration) (reached bool, err error) {
	var a arena
	defer a.free()
	d := t.device
	info := semaphoreWait{sType: typeSemaphoreWait, count: 1, semaphores: put(&a, &t.semaphore), values: put(&a, &v)}
	r := d.in.call("vkWaitSemaphores", d.handle, put(&a, &info), uintptr(slice))
	if r == timeout {
		return false, nil
	}
	return r == success, d.check("wait", "vkWaitSemaphores", r)
}

// Close destroys the Timeline, once; repeating it returns nil. The error is ErrInUse while a submission or a call waits
// for it or is to signal it.
func (t *Timeline) Close() error {
	if t == nil || t.device == nil {
		return nil
	}
	return t.close("Timeline")
}
