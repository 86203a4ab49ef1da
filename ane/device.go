package ane

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Device is an open engine as users see it. Devices come from Open, Models from
// Device.Compile, Requests from Model.Bind; their zero values are closed.
type Device struct {
	engine   Engine
	info     Info
	fallback string

	mu     sync.Mutex
	models int // open ones
	closed bool
}

// Open wraps an engine. The Device owns it from here on. fallback tells why
// this engine was taken instead of a better one; it is empty for a first
// choice and is repeated on every receipt.
func Open(e Engine, fallback string) (*Device, error) {
	if e == nil {
		return nil, &Error{Op: "open", Err: ErrUnavailable, Detail: "nil engine"}
	}
	return &Device{engine: e, info: e.Info(), fallback: fallback}, nil
}

// Info describes the engine.
func (d *Device) Info() Info {
	d = d.orZero()
	return d.info
}

// Traffic returns the bytes sent to the engine's process and received from it, and
// false for an engine in this process.
func (d *Device) Traffic() (sent, received int64, ok bool) {
	d = d.orZero()
	m, ok := d.engine.(Metered)
	if !ok {
		return 0, 0, false
	}
	return m.Traffic()
}

// Receipt returns what receipts of this Device say before a program is known.
func (d *Device) Receipt() Receipt {
	d = d.orZero()
	i := d.info
	return Receipt{Engine: i.Name, Chip: i.Chip, OSBuild: i.OSBuild, Numerics: i.Numerics, Sharing: i.Sharing, Fallback: d.fallback}
}

// Compile checks and compiles a program. The error matches ErrCompile when the
// program is at fault; errors.As then finds the mil.ErrorList.
func (d *Device) Compile(ctx context.Context, src Source) (*Model, error) {
	d = d.orZero()
	ctx = given(ctx)
	if err := ctx.Err(); err != nil {
		return nil, Deadline("compile", d.info.Name, err)
	}
	if err := d.hold(); err != nil {
		return nil, err
	}
	exec, err := d.engine.Compile(ctx, src)
	if err == nil {
		err = d.vet(exec)
		if err != nil {
			err = errors.Join(err, exec.Close())
		}
	}
	if err != nil {
		d.drop()
		return nil, err
	}
	r := d.Receipt()
	r.Cached, r.Notes = exec.Cached(), exec.Notes()
	return &Model{device: d, exec: exec, in: clones(exec.Inputs()), out: clones(exec.Outputs()), receipt: &r, turn: make(chan struct{}, 1)}, nil
}

// vet refuses what no program may have, whatever engine compiled it.
func (d *Device) vet(exec Executable) error {
	if len(exec.Outputs()) == 0 {
		return &Error{Op: "compile", Engine: d.info.Name, Err: ErrCompile, Detail: "no outputs"}
	}
	for _, l := range slices.Concat(exec.Inputs(), exec.Outputs()) {
		if err := l.Check(); err != nil {
			return &Error{Op: "compile", Engine: d.info.Name, Err: err, Detail: "the engine reports an impossible layout"}
		}
	}
	return nil
}

// hold counts one more open Model; drop one less.
func (d *Device) hold() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed || d.engine == nil {
		return &Error{Op: "compile", Engine: d.info.Name, Err: ErrClosed}
	}
	d.models++
	return nil
}

func (d *Device) drop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.models--
}

// Close closes the engine; ErrInUse while a Model is open. Repeated calls do
// nothing.
func (d *Device) Close() error {
	d = d.orZero()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed || d.engine == nil {
		return nil
	}
	if d.models > 0 {
		return &Error{Op: "close", Engine: d.info.Name, Err: ErrInUse,
			Detail: fmt.Sprintf("open models: %d", d.models), Hint: "close the models first"}
	}
	d.closed = true
	return d.engine.Close()
}

// names lists the tensors' names for messages.
func names(layouts []Layout) string {
	var n []string
	for _, l := range layouts {
		n = append(n, l.Name)
	}
	return strings.Join(n, ", ")
}

// orZero answers for nil as the zero value does: closed, without memory.
func (d *Device) orZero() *Device {
	if d == nil {
		return &Device{}
	}
	return d
}

// given takes a nil context for one that never ends.
func given(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}
