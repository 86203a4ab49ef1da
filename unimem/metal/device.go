package metal

import (
	"fmt"
	"strings"
	"sync"

	"github.com/anekit/anekit/unimem"
)

// Device is a GPU. All methods are safe for concurrent use; those of a nil or closed Device return ErrClosed.
type Device struct {
	driver *driver

	mu    sync.RWMutex
	ref   uintptr // id<MTLDevice>, zero when closed
	queue uintptr // id<MTLCommandQueue>

	edges sync.Mutex
	bytes map[string]*Kernel // of Fill and Copy, by name; made when they are first needed
}

// Info describes a GPU of this Mac.
type Info struct {
	Name    string
	ID      string // registryID in hexadecimal digits: the same until the system restarts
	Unified bool   // shares the CPU's memory
	Metal3  bool   // Open accepts it
	Default bool   // the one that Open takes without Choose
}

// Option configures Open.
type Option func(*choice)

type choice struct{ text string }

// Choose opens the one GPU whose name contains the text, in any case, or whose ID begins with it.
func Choose(device string) Option { return func(c *choice) { c.text = device } }

// List describes all GPUs of this Mac in the order of the system. Errors: ErrUnavailable.
func List() ([]Info, error) {
	d, err := system()
	if err != nil {
		return nil, newError("list", err, "", "")
	}
	return d.list(), nil
}

func (d *driver) list() (all []Info) {
	first := uint64(0)
	if ref := d.systemDevice(); ref != 0 {
		first = d.id(ref)
		d.release(ref)
	}
	for _, ref := range d.devices() {
		all = append(all, Info{d.name(ref), fmt.Sprintf("%x", d.id(ref)), d.unified(ref), d.metal3(ref), d.id(ref) == first})
		d.release(ref)
	}
	return all
}

// Open returns the system's default GPU, or that of Choose. The caller closes it.
//
// Errors: ErrUnavailable (not macOS, or built without cgo), ErrDevice (no GPU, or none or several of the chosen name),
// ErrMetal3, ErrRefused.
func Open(opts ...Option) (*Device, error) {
	d, err := system()
	if err != nil {
		return nil, newError("open", err, "", "")
	}
	return openWith(d, opts...)
}

func openWith(d *driver, opts ...Option) (*Device, error) {
	var c choice
	for _, o := range opts {
		o(&c)
	}
	ref, err := d.choose(c.text)
	if err != nil {
		return nil, err
	}
	if !d.metal3(ref) {
		name := d.name(ref)
		d.release(ref)
		return nil, newError("open", ErrMetal3, name, "use a Mac with Apple silicon, or one of 2017 and later, with macOS 13")
	}
	queue := d.newQueue(ref)
	if queue == 0 {
		d.release(ref)
		return nil, newError("open", ErrRefused, "", "Metal makes no command queue")
	}
	return &Device{driver: d, ref: ref, queue: queue, bytes: map[string]*Kernel{}}, nil
}

// choose returns the device that the text names, or the default one.
func (d *driver) choose(text string) (found uintptr, err error) {
	if text == "" {
		if found = d.systemDevice(); found == 0 {
			err = newError("open", ErrDevice, "", "a virtual machine without a GPU has none")
		}
		return found, err
	}
	fits, names := 0, []string{}
	for _, ref := range d.devices() {
		name, id := d.name(ref), fmt.Sprintf("%x", d.id(ref))
		names = append(names, fmt.Sprintf("%s (%s)", name, id))
		if !strings.Contains(strings.ToLower(name), strings.ToLower(text)) && !strings.HasPrefix(id, strings.ToLower(text)) {
			d.release(ref)
			continue
		}
		if fits++; fits == 1 {
			found = ref
		} else {
			d.release(ref)
		}
	}
	if fits == 1 {
		return found, nil
	}
	if found != 0 {
		d.release(found)
	}
	return 0, newError("open", ErrDevice, "", fmt.Sprintf("%q fits %d of %s: give a name or an ID", text, fits,
		strings.Join(names, "; ")))
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
	d.edges.Lock()
	for _, k := range d.bytes {
		k.object.abandon()
	}
	clear(d.bytes)
	d.edges.Unlock()
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
