package vulkan

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/anekit/anekit/internal/gate"
)

// Device is an open device with one queue for compute kernels. Open makes one, and its caller closes it. Its methods,
// and those of its objects, are safe for concurrent use.
type Device struct {
	physical
	in       *instance
	handle   uintptr
	queue    uintptr
	sending  chan struct{} // holds a value while a call uses the queue
	done     *Timeline     // the number of the last submission that has ended
	lose     sync.Once
	lostSign chan struct{} // closed when the device is lost
	copied   atomic.Int64  // bytes, by Load
	running  gate.Gate     // calls of the driver, also those that their callers have abandoned; shut by Close

	mu      sync.Mutex
	closed  bool
	pending []*submission
	objects map[*object]struct{}
}

// Open opens the device that Choose or the environment variable ANEKIT_GPU names, or else the first of List.
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
	d = &Device{physical: p, in: in, sending: make(chan struct{}, 1), objects: map[*object]struct{}{},
		lostSign: make(chan struct{})}
	d.running.Open()
	var a arena
	defer a.free()
	timelines := timelineFeatures{sType: typeTimelineFeatures, on: 1}
	var extensions []string
	if p.HostMemory {
		extensions = append(extensions, extensionHost)
	}
	queue := deviceQueueInfo{sType: typeDeviceQueue, family: p.family, count: 1, priorities: putAll(&a, []float32{1})}
	info := deviceInfo{sType: typeDevice, next: put(&a, &timelines), queueCount: 1, queues: put(&a, &queue),
		extensionCount: uint32(len(extensions)), extensions: a.texts(extensions)}
	if r := in.call("vkCreateDevice", p.handle, put(&a, &info), 0, put(&a, &d.handle)); r != success {
		return nil, failed("open", "vkCreateDevice", r)
	}
	in.call("vkGetDeviceQueue", d.handle, uintptr(p.family), 0, put(&a, &d.queue))
	if d.done, err = d.newTimeline("open", 0); err != nil {
		in.call("vkDestroyDevice", d.handle, 0)
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
// error, and a later Close continues. The error is ErrInUse while a call of a Timeline or another Close waits.
// Repeating it returns nil.
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
	if err := d.running.Shut(ctx); err != nil {
		return err
	}
	d.mu.Lock()
	last, handle := d.done.last, d.handle
	d.mu.Unlock()
	if handle == 0 {
		return nil
	}
	if err := d.done.Wait(ctx, last); err != nil && !errors.Is(err, ErrLost) && !errors.Is(err, ErrClosed) {
		return err
	}
	d.retire()
	d.mu.Lock()
	if d.handle == 0 { // by another Close
		d.mu.Unlock()
		return nil
	}
	var left []*object
	for o := range d.objects {
		if o.uses > 0 {
			d.mu.Unlock()
			return inUse("a call of a Timeline, or another Close, is waiting")
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
	d.in.call("vkDestroyDevice", handle, 0)
	d.in.close()
	return nil
}

// usable refuses a closed or lost Device; the caller holds mu.
func (d *Device) usable(op string) error {
	switch {
	case d.closed:
		return closed(op, "Device")
	case d.lost():
		return lost(op)
	}
	return nil
}

func lost(op string) error {
	return newError(op, ErrLost, "", "close the Device and open it again")
}

func closed(op, what string) error {
	return newError(op, ErrClosed, "", "the "+what+" is closed, nil or zero")
}

func inUse(hint string) error {
	return newError("close", ErrInUse, "", hint)
}

// do calls a function of the driver.
func (d *Device) do(op, name string, args ...uintptr) error {
	return d.check(op, name, d.in.call(name, args...))
}

// check makes the error of a call of the driver, and records a lost device.
func (d *Device) check(op, call string, r result) error {
	if r == deviceLost {
		d.lose.Do(func() { close(d.lostSign) })
	}
	return failed(op, call, r)
}

func (d *Device) lost() bool {
	select {
	case <-d.lostSign:
		return true
	default:
		return false
	}
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
		return inUse("wait until the work that names the " + what + " has ended")
	}
	o.closed = true
	delete(d.objects, o)
	o.destroy(d.handle) // under the lock, so that the Device is not destroyed first
	d.mu.Unlock()
	return nil
}

// retire frees what submissions that have ended hold. It keeps the lock, so that Close does not destroy the device
// during a call.
func (d *Device) retire() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.handle == 0 || len(d.pending) == 0 {
		return
	}
	reached, err := d.done.counter("retire")
	if d.lost() {
		reached = ^uint64(0) // nothing of a lost device runs
	} else if err != nil {
		return
	}
	ended := 0
	for _, s := range d.pending {
		if s.number > reached {
			break
		}
		for _, o := range s.objects {
			o.uses--
		}
		s.retired = true
		s.free(d)
		ended++
	}
	d.pending = slices.Delete(d.pending, 0, ended)
}
