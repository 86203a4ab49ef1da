package metal

import (
	"sync"

	"github.com/anekit/anekit/unimem"
)

// Device is a GPU. All methods are safe for concurrent use; those of a nil or closed Device return ErrClosed.
type Device struct {
	driver *driver

	mu    sync.RWMutex
	ref   uintptr // id<MTLDevice>, zero when closed
	queue uintptr // id<MTLCommandQueue>
}

// Open returns the system's default GPU. The caller closes it.
//
// Errors: ErrUnavailable (not macOS, or built without cgo), ErrDevice, ErrRefused.
func Open() (*Device, error) {
	d, err := system()
	if err != nil {
		return nil, newError("open", err, "", "")
	}
	return openWith(d)
}

func openWith(d *driver) (*Device, error) {
	ref := d.systemDevice()
	if ref == 0 {
		return nil, newError("open", ErrDevice, "", "a virtual machine without a GPU has none")
	}
	queue := d.newQueue(ref)
	if queue == 0 {
		d.release(ref)
		return nil, newError("open", ErrRefused, "", "Metal makes no command queue")
	}
	return &Device{driver: d, ref: ref, queue: queue}, nil
}

// Name is the GPU's name in Metal, empty after Close.
func (d *Device) Name() string {
	var name string
	_ = d.use("name", func(ref uintptr) error { name = d.driver.name(ref); return nil })
	return name
}

// Unified reports whether the GPU shares the CPU's memory, as on Apple silicon; false after Close.
func (d *Device) Unified() (yes bool) {
	_ = d.use("unified", func(ref uintptr) error { yes = d.driver.unified(ref); return nil })
	return yes
}

// Close releases the GPU, once; repeating it returns nil. Buffers, Textures, Events and Kernels stay valid, and work
// that was submitted continues. The error is nil.
func (d *Device) Close() error {
	if d == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ref != 0 {
		d.driver.release(d.queue) // work that the queue has goes on: a command buffer retains it
		d.driver.release(d.ref)
		d.ref = 0
	}
	return nil
}

// use calls f with the device, and prevents closing it during the call.
func (d *Device) use(op string, f func(ref uintptr) error) error {
	if d == nil {
		return newError(op, ErrClosed, "", "open a Device first")
	}
	d.mu.RLock()
	defer d.mu.RUnlock()
	if d.ref == 0 {
		return newError(op, ErrClosed, "", "open a Device first")
	}
	return f(d.ref)
}

// make calls f to make an object.
func (d *Device) make(op string, f func(ref uintptr) (uintptr, error)) (*object, error) {
	var made uintptr
	err := d.use(op, func(ref uintptr) (err error) {
		made, err = f(ref)
		if err == nil && made == 0 {
			err = newError(op, ErrRefused, "", "")
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return &object{driver: d.driver, device: d, ref: made}, nil
}

// over is make for an object over a Block, which it retains.
func (d *Device) over(op string, b *unimem.Block, f func(ref uintptr) (uintptr, error)) (*object, error) {
	if err := b.Retain(); err != nil {
		return nil, newError(op, err, "", "open a Block first")
	}
	o, err := d.make(op, f)
	if err != nil {
		b.Release()
		return nil, err
	}
	o.block = b
	return o, nil
}
