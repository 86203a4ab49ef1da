package ane

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/anekit/anekit/internal/gate"
)

// Model is a compiled program on a Device. Its methods are safe for concurrent use.
type Model struct {
	device  *Device
	exec    Executable
	in, out []Layout
	receipt *Receipt

	gate gate.Gate     // open while loaded; Evaluate and Bind enter it
	turn chan struct{} // has a token during Load, Unload, WithWeights and Close

	loaded bool // used only while turn has a token

	mu       sync.Mutex // guards the fields below and orders Prepare; never held during a run
	closed   bool       // changes only while turn has a token
	requests int        // number of open Requests
}

// Inputs returns the layouts of the inputs in the order of the program's text.
func (m *Model) Inputs() []Layout { return clones(orZero(m).in) }

// Outputs returns the layouts of the outputs in the order of the program's
// text.
func (m *Model) Outputs() []Layout { return clones(orZero(m).out) }

// Input returns the layout of the input called name; ErrName if there is none.
func (m *Model) Input(name string) (Layout, error) {
	m = orZero(m)
	return m.layout("input", name, m.in)
}

// Output returns the layout of the output called name; ErrName if there is none.
func (m *Model) Output(name string) (Layout, error) {
	m = orZero(m)
	return m.layout("output", name, m.out)
}

// layout finds a layout by its name.
func (m *Model) layout(what, name string, among []Layout) (Layout, error) {
	i, err := m.find(what, name, among)
	if err != nil {
		return Layout{}, err
	}
	return among[i].clone(), nil
}

// find returns the index of the layout called name.
func (m *Model) find(what, name string, among []Layout) (int, *Error) {
	if m.device == nil {
		return 0, &Error{Op: what, Name: name, Err: ErrClosed, Hint: "compile the program again"}
	}
	i := slices.IndexFunc(among, func(l Layout) bool { return l.Name == name })
	if i < 0 {
		return 0, &Error{Op: what, Engine: m.engine(), Name: name, Err: ErrName,
			Hint: "the program has " + names(among)}
	}
	return i, nil
}

// Receipt describes the engine that runs the program.
func (m *Model) Receipt() Receipt {
	m = orZero(m)
	if m.receipt == nil {
		return Receipt{}
	}
	return *m.receipt
}

// Load makes the program ready to run. Loading twice does nothing. Errors: ErrClosed, ErrDeadline if ctx ended first,
// ErrStuck while an earlier call has not returned, and those of the engine: ErrExhausted, ErrDenied, ErrLost,
// ErrEngine.
func (m *Model) Load(ctx context.Context) error {
	m = orZero(m)
	ctx = given(ctx)
	if err := m.begin(ctx, "load"); err != nil {
		return err
	}
	defer m.end()
	if m.loaded {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return Deadline("load", m.device.info.Name, err)
	}
	if err := m.exec.Load(ctx); err != nil {
		return err
	}
	m.loaded = true
	m.gate.Open()
	return nil
}

// Unload waits for evaluations in flight and removes the program from the engine. Requests stay bound and work again
// after the next Load. Unloading twice does nothing. If ctx ends first, the program stays loaded. Errors: ErrClosed,
// ErrDeadline, ErrStuck, and those of the engine.
func (m *Model) Unload(ctx context.Context) error {
	m = orZero(m)
	ctx = given(ctx)
	if err := m.begin(ctx, "unload"); err != nil {
		return err
	}
	defer m.end()
	return m.unload(ctx, func() error { return nil })
}

// unload is Unload for a caller between begin and end. It calls allowed when no caller is
// inside the gate; if allowed returns an error, the program stays loaded.
func (m *Model) unload(ctx context.Context, allowed func() error) error {
	if !m.loaded {
		return nil
	}
	if err := m.gate.Shut(ctx); err != nil {
		m.gate.Open()
		return Deadline("unload", m.device.info.Name, err)
	}
	if err := allowed(); err != nil {
		m.gate.Open()
		return err
	}
	if err := m.exec.Unload(ctx); err != nil {
		m.gate.Open()
		return err
	}
	m.loaded = false
	return nil
}

// Evaluate runs a request of this model, as Request.Evaluate does. The error is ErrForeign for a request of another
// Model; all others are those of Request.Evaluate.
func (m *Model) Evaluate(ctx context.Context, r *Request) (Result, error) {
	if r == nil || r.model != m || m == nil {
		return Result{}, orZero(m).fail("evaluate", ErrForeign, "a request of another model", "bind it on this model")
	}
	return r.Evaluate(ctx)
}

// Close unloads the program and frees it; ErrInUse while a Request is open.
// Repeated calls do nothing.
func (m *Model) Close(ctx context.Context) error {
	m = orZero(m)
	ctx = given(ctx)
	err := m.begin(ctx, "close")
	if errors.Is(err, ErrClosed) {
		return nil
	}
	if err != nil {
		return err
	}
	defer m.end()
	if err := m.unused(); err != nil {
		return err
	}
	if err := m.unload(ctx, m.unused); err != nil { // check again: a Bind may have been inside the gate
		return err
	}
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	defer m.device.drop()
	return m.exec.Close()
}

// unused refuses while requests are open.
func (m *Model) unused() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.requests == 0 {
		return nil
	}
	return m.fail("close", ErrInUse, fmt.Sprintf("open requests: %d", m.requests), "close the requests first")
}

// begin waits until no other Load, Unload or Close is running. If it succeeds, the caller
// must call end. It fails on a closed Model.
func (m *Model) begin(ctx context.Context, op string) error {
	if m.device == nil {
		return m.notReady(op)
	}
	select {
	case m.turn <- struct{}{}:
	default:
		select {
		case m.turn <- struct{}{}:
		case <-ctx.Done():
			return Deadline(op, m.device.info.Name, ctx.Err())
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		m.end()
		return m.fail(op, ErrClosed, "", "compile the program again")
	}
	return nil
}

func (m *Model) end() { <-m.turn }

// notReady returns the reason why the gate is shut.
func (m *Model) notReady(op string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed || m.device == nil {
		return m.fail(op, ErrClosed, "", "compile the program again")
	}
	return m.fail(op, ErrNotLoaded, "", "call Load first")
}

func (m *Model) fail(op string, err error, detail, hint string) error {
	return &Error{Op: op, Engine: m.engine(), Err: err, Detail: detail, Hint: hint}
}

// engine returns the engine's name, empty for the zero Model.
func (m *Model) engine() string {
	if m.device == nil {
		return ""
	}
	return m.device.info.Name
}
