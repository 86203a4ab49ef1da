package ane

import (
	"context"
	"sync"
	"time"
)

// Model is a compiled program on a Device. Its methods may be called from
// several goroutines.
type Model struct {
	device  *Device
	exec    Executable
	in, out []Layout
	receipt *Receipt

	gate gate // open while loaded; an Evaluate is inside

	mu       sync.Mutex // orders Load, Unload, Bind, Close
	loaded   bool
	requests int // open ones
	closed   bool
}

// Inputs returns the layouts of the inputs in the order of the program's text.
func (m *Model) Inputs() []Layout { return append([]Layout(nil), m.in...) }

// Outputs returns the layouts of the outputs in the order of the program's
// text.
func (m *Model) Outputs() []Layout { return append([]Layout(nil), m.out...) }

// Receipt says which engine runs the program.
func (m *Model) Receipt() Receipt { return *m.receipt }

// Load makes the program ready to run. Loading twice does nothing.
func (m *Model) Load(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.usable("load"); err != nil || m.loaded {
		return err
	}
	if err := ctx.Err(); err != nil {
		return Deadline("load", m.device.info.Name, err)
	}
	if err := m.exec.Load(ctx); err != nil {
		return err
	}
	m.loaded = true
	m.gate.unlock()
	return nil
}

// Unload waits for evaluations in flight and takes the program off the engine;
// requests stay bound and work again after the next Load. Unloading twice does
// nothing.
func (m *Model) Unload(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.usable("unload"); err != nil || !m.loaded {
		return err
	}
	if err := m.gate.shut(ctx); err != nil {
		m.gate.unlock()
		return Deadline("unload", m.device.info.Name, err)
	}
	if err := m.exec.Unload(ctx); err != nil {
		m.gate.unlock()
		return err
	}
	m.loaded = false
	return nil
}

// Evaluate runs a request of this model and returns when the outputs are
// written. The request may be used again at once.
func (m *Model) Evaluate(ctx context.Context, r *Request) (Result, error) {
	if r == nil || r.model != m {
		return Result{}, m.fail("evaluate", ErrForeign, "a request of another model", "bind it on this model")
	}
	if !m.gate.enter() {
		return Result{}, m.fail("evaluate", ErrNotLoaded, "", "call Load first")
	}
	defer m.gate.leave()
	if err := r.take(); err != nil {
		return Result{}, err
	}
	defer r.busy.Store(idle)
	if err := ctx.Err(); err != nil {
		return Result{}, Deadline("evaluate", m.device.info.Name, err)
	}
	start := time.Now()
	err := r.run.Evaluate(ctx)
	return Result{Receipt: m.receipt, Elapsed: time.Since(start)}, err
}

// Close unloads the program and frees it; ErrInUse while a Request is open.
// Repeated calls do nothing.
func (m *Model) Close(ctx context.Context) error {
	m.mu.Lock()
	closed, open, loaded := m.closed, m.requests, m.loaded
	m.mu.Unlock()
	if closed {
		return nil
	}
	if open > 0 {
		return m.fail("close", ErrInUse, "requests are open", "close the requests first")
	}
	if loaded {
		if err := m.Unload(ctx); err != nil {
			return err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil
	}
	if m.requests > 0 || m.loaded {
		return m.fail("close", ErrInUse, "it was used while closing", "close the requests first")
	}
	m.closed = true
	m.device.drop()
	return m.exec.Close()
}

// usable refuses calls on a closed Model.
func (m *Model) usable(op string) error {
	if m.closed {
		return m.fail(op, ErrClosed, "", "compile the program again")
	}
	return nil
}

func (m *Model) fail(op string, err error, detail, hint string) error {
	return &Error{Op: op, Engine: m.device.info.Name, Err: err, Detail: detail, Hint: hint}
}
