package hal

import (
	"context"
	"errors"
	"slices"

	"github.com/anekit/anekit/ane"
)

// Executable is a program that is compiled and loaded on a Device. Device.Prepare makes one, and its caller closes it.
// The zero value is closed.
type Executable struct {
	device  *Device
	program *program
	in, out []ane.Layout
	found   bool // Prepare found the program loaded

	// The mutex of the Device guards the fields below.
	pending int
	closed  bool
}

func (e *Executable) valid() bool { return e != nil && e.device != nil }

// Inputs returns the layouts of the inputs in the order of the program's text.
func (e *Executable) Inputs() []ane.Layout {
	if !e.valid() {
		return nil
	}
	return e.program.model.Inputs()
}

// Outputs returns the layouts of the outputs in the order of the program's text.
func (e *Executable) Outputs() []ane.Layout {
	if !e.valid() {
		return nil
	}
	return e.program.model.Outputs()
}

// Receipt describes the engine that runs the program. Cached is true if Prepare found the program loaded.
func (e *Executable) Receipt() ane.Receipt {
	if !e.valid() {
		return ane.Receipt{}
	}
	r := e.program.model.Receipt()
	r.Cached, r.Notes = r.Cached || e.found, slices.Clone(r.Notes)
	return r
}

// usable returns the reason why e cannot be recorded on d.
func (e *Executable) usable(d *Device) error {
	switch {
	case !e.valid():
		return closed("dispatch", "nil or zero Executable", "make it by Device.Prepare")
	case e.device != d:
		return foreign("Executable")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if e.closed {
		return closed("dispatch", "Executable", "prepare the program again")
	}
	return nil
}

// Close ends the use of the program through e; other Executables of the same program stay. A batch that starts later
// and dispatches e fails with ErrClosed. The program stays loaded for Prepare as CacheLimit allows; otherwise Close
// frees it, and ctx bounds that. The error is ErrInUse while a submission that dispatches e is pending. Repeating it
// returns nil.
func (e *Executable) Close(ctx context.Context) error {
	if !e.valid() {
		return nil
	}
	d := e.device
	d.mu.Lock()
	if e.closed || e.pending > 0 {
		defer d.mu.Unlock()
		if e.closed {
			return nil
		}
		return inUse("Executable")
	}
	e.closed = true
	d.mu.Unlock()
	return errors.Join(e.unbind(), d.cache.release(given(ctx), e.program))
}

// unbind closes the Requests of the program through e.
func (e *Executable) unbind() error {
	all := map[*binding]bool{}
	e.device.mu.Lock()
	for b := range e.device.buffers {
		for k := range b.bound {
			if k.exec == e {
				all[k] = true
			}
		}
	}
	e.device.mu.Unlock()
	var errs []error
	for k := range all {
		errs = append(errs, k.close())
	}
	return errors.Join(errs...)
}
