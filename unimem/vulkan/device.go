package vulkan

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// Device is an open device with one queue for compute kernels. Open makes one, and its caller closes it. Its methods,
// and those of its objects, are safe for concurrent use.
type Device struct {
	physical
	in     *instance
	handle uintptr
	queue  uintptr
	calls  calls
	turn   chan struct{} // holds a value while a call uses the queue
	done   uint64        // timeline semaphore: the number of the last submission that has ended

	mu     sync.Mutex
	closed bool
	lost   bool
	// lostSign is closed when the device is lost.
	lostSign chan struct{}
	last     uint64 // number of the last submission
	pending  []*submission
	objects  map[*object]struct{}
}

// Open opens the device that Choose or the variable EnvDevice names, or else the first of List.
//
// Errors: ErrUnavailable (no loader, an old one, a build that cannot load it), ErrDevice (no device, no usable one, or
// none or several of the chosen name), ErrExtension (Validate without the layer), ErrMemory, ErrLost, ErrDriver, and
// the error of ctx, which bounds the drivers.
func Open(ctx context.Context, opts ...Option) (*Device, error) {
	c := configure(opts)
	return within(ctx, nil, func() (*Device, error) { return open(c) },
		func(d *Device) { _ = d.Close(context.Background()) })
}

func open(c config) (d *Device, err error) {
	in, err := newInstance(c)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			in.close()
		}
	}()
	p, err := in.choose(c)
	if err != nil {
		return nil, err
	}
	d = &Device{physical: p, in: in, turn: make(chan struct{}, 1), objects: map[*object]struct{}{},
		lostSign: make(chan struct{})}
	var a arena
	defer a.free()
	timelines := timelineFeatures{sType: typeTimelineFeatures, on: 1}
	queue := deviceQueueInfo{sType: typeDeviceQueue, family: p.family, count: 1, priorities: putAll(&a, []float32{1})}
	info := deviceInfo{sType: typeDevice, next: put(&a, &timelines), queueCount: 1, queues: put(&a, &queue),
		extensionCount: uint32(len(p.extends)), extensions: a.texts(p.extends)}
	if r := in.createDevice(p.handle, put(&a, &info), 0, put(&a, &d.handle)); r != success {
		return nil, failed("open", "vkCreateDevice", r)
	}
	in.deviceQueue(d.handle, uintptr(p.family), 0, put(&a, &d.queue))
	if d.done, err = d.newSemaphore("open", 0); err != nil {
		in.destroyDevice(d.handle, 0)
		return nil, err
	}
	return d, nil
}

// Info describes the device. It does not change.
func (d *Device) Info() Info {
	if d == nil {
		return Info{}
	}
	return d.physical.Info
}

// Close refuses new work, and waits for all submitted work and all abandoned calls. Then it closes the Device's objects
// and the Device. If ctx ends first, such as for work that waits for a value that no caller signals, Close returns its
// error, and a later Close continues. The error is ErrInUse while a call of a Timeline waits. Repeating it returns nil.
func (d *Device) Close(ctx context.Context) error {
	if d == nil || d.in == nil {
		return nil
	}
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	if ctx == nil {
		ctx = context.Background()
	}
	if err := d.calls.wait(ctx); err != nil {
		return err
	}
	d.mu.Lock()
	last, gone, handle := d.last, d.lost, d.handle
	d.mu.Unlock()
	if handle == 0 {
		return nil
	}
	if !gone {
		if err := d.await(ctx, "close", d.done, last); err != nil && !errors.Is(err, ErrLost) {
			return err
		}
	}
	d.retire()
	d.mu.Lock()
	if d.handle == 0 { // by another Close
		d.mu.Unlock()
		return nil
	}
	var left []*object
	for o := range d.objects {
		if o.uses > 0 { // a waiting call of a Timeline
			d.mu.Unlock()
			return inUse("close", "a call of a Timeline is waiting")
		}
		o.closed = true
		left = append(left, o)
	}
	d.objects = nil
	d.handle = 0
	d.mu.Unlock()
	for _, o := range left {
		o.destroy(handle)
	}
	d.in.destroySemaphore(handle, uintptr(d.done), 0)
	d.in.destroyDevice(handle, 0)
	d.in.close()
	return nil
}

// usable refuses a closed or lost Device; the caller holds mu.
func (d *Device) usable(op string) error {
	switch {
	case d.closed:
		return closed(op, "Device")
	case d.lost:
		return lost(op)
	}
	return nil
}

func lost(op string) error {
	return &Error{Op: op, Err: ErrLost, Hint: "close the Device and open it again"}
}

func closed(op, what string) error {
	return &Error{Op: op, Err: ErrClosed, Hint: "the " + what + " is closed, nil or zero"}
}

func inUse(op, hint string) error { return &Error{Op: op, Err: ErrInUse, Hint: hint} }

// check makes the error of a call of the driver, and records a lost device.
func (d *Device) check(op, call string, r result) error {
	if r == success {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.note(op, call, r)
}

// note is check for a caller that holds mu.
func (d *Device) note(op, call string, r result) error {
	if r == deviceLost && !d.lost {
		d.lost = true
		close(d.lostSign)
	}
	return failed(op, call, r)
}

// object is what Buffers, Kernels and Timelines have in common. The Device's mu guards it.
type object struct {
	device  *Device
	uses    int // pending submissions and calls that name it
	closed  bool
	destroy func(device uintptr)
}

// add registers an object; a Device that was closed during the call refuses it.
func (d *Device) add(op string, o *object) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return closed(op, "Device")
	}
	o.device = d
	d.objects[o] = struct{}{}
	return nil
}

// hold counts a use; the caller holds mu.
func (o *object) hold(op, what string) error {
	if o.closed {
		return closed(op, what)
	}
	o.uses++
	return nil
}

// close destroys the object unless it is in use. Repeating it returns nil.
func (o *object) close(what string) error {
	d := o.device
	d.retire()
	d.mu.Lock()
	if o.closed {
		d.mu.Unlock()
		return nil
	}
	if o.uses > 0 {
		d.mu.Unlock()
		return inUse("close", "wait until the work that names the "+what+" has ended")
	}
	o.closed = true
	delete(d.objects, o)
	o.destroy(d.handle) // under the lock, so that the Device is not destroyed first
	d.mu.Unlock()
	return nil
}

// retire frees what submissions that have ended hold.
func (d *Device) retire() {
	d.mu.Lock()
	if d.handle == 0 || len(d.pending) == 0 {
		d.mu.Unlock()
		return
	}
	reached := uint64(0)
	if !d.lost {
		var a arena
		err := d.note("retire", "vkGetSemaphoreCounterValue", d.in.counter(d.handle, uintptr(d.done), put(&a,
			&reached)))
		if err != nil {
			reached = 0
		}
		a.free()
	}
	if d.lost {
		reached = ^uint64(0) // nothing of a lost device runs
	}
	ended := 0
	for ended < len(d.pending) && d.pending[ended].number <= reached {
		for _, o := range d.pending[ended].objects {
			o.uses--
		}
		d.pending[ended].retired = true
		ended++
	}
	free := slices.Clone(d.pending[:ended])
	d.pending = slices.Delete(d.pending, 0, ended)
	handle := d.handle
	// Under the lock, so that Close does not destroy the device during the call.
	for _, s := range free {
		s.free(d, handle)
	}
	d.mu.Unlock()
}

// Waits of the driver end after these times, so that the caller notices the end of its context.
const (
	shortWait = 2 * time.Millisecond
	longWait  = 50 * time.Millisecond
)

// await waits until a timeline semaphore has a value that a submission signals.
func (d *Device) await(ctx context.Context, op string, semaphore, value uint64) error {
	for slice := shortWait; ; slice = min(2*slice, longWait) {
		if reached, err := d.waitSlice(op, semaphore, value, slice); reached || err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		d.mu.Lock()
		gone := d.lost
		d.mu.Unlock()
		if gone {
			return lost(op)
		}
	}
}

// waitSlice waits once in the driver.
func (d *Device) waitSlice(op string, semaphore, value uint64, slice time.Duration) (reached bool, err error) {
	var a arena
	defer a.free()
	info := semaphoreWait{sType: typeSemaphoreWait, count: 1, semaphores: put(&a, &semaphore), values: put(&a, &value)}
	r := d.in.wait(d.handle, put(&a, &info), uintptr(slice))
	if r == success || r == timeout {
		return r == success, nil
	}
	return false, d.check(op, "vkWaitSemaphores", r)
}

// newSemaphore makes a timeline semaphore.
func (d *Device) newSemaphore(op string, initial uint64) (semaphore uint64, err error) {
	var a arena
	defer a.free()
	kind := semaphoreType{sType: typeSemaphoreType, kind: semaphoreTimeline, initial: initial}
	info := semaphoreInfo{sType: typeSemaphore, next: put(&a, &kind)}
	r := d.in.createSemaphore(d.handle, put(&a, &info), 0, put(&a, &semaphore))
	return semaphore, d.check(op, "vkCreateSemaphore", r)
}
