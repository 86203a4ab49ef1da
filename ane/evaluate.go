package ane

import (
	"context"
	"errors"

	"github.com/anekit/anekit/unimem"
)

// Evaluate runs the request and returns when the outputs are written. The request may be
// used again at once. During the call the engine owns the tensors: the caller must not
// write inputs or read outputs.
//
// The error matches ErrNotLoaded after Model.Unload, ErrBusy while another run of the
// request is in flight, ErrStale if the memory of a tensor is closed, ErrDeadline if ctx
// ended first, unimem.ErrChanged if an input is on a mapped file that has become shorter; in the
// last two cases the content of the outputs is undefined.
func (r *Request) Evaluate(ctx context.Context) (Result, error) {
	r = orZero(r)
	if r.model == nil {
		return Result{}, orZero(r.model).fail("evaluate", ErrClosed, "", "make a new request")
	}
	return r.model.Evaluate(ctx, r)
}

// Outcome is the outcome of a run in the background.
type Outcome struct {
	Result Result
	Err    error // the error that Evaluate would return
}

// EvaluateAsync starts a run and returns at once. The channel receives exactly one
// Outcome, also if the run cannot start, and is then closed. The channel is buffered: a
// caller may stop waiting without leaking a goroutine.
//
// From this call until the Outcome arrives, the request is in flight: the engine owns its
// tensors, and Evaluate and Close return ErrBusy. After the Outcome the caller owns the
// tensors again. To end a run early, cancel ctx.
func (r *Request) EvaluateAsync(ctx context.Context) <-chan Outcome {
	r = orZero(r)
	c := make(chan Outcome, 1)
	m, err := r.start()
	if err != nil {
		c <- Outcome{Err: err}
		close(c)
		return c
	}
	go func() {
		result, err := m.run(given(ctx), r)
		r.busy.Store(idle)
		m.gate.leave()
		c <- Outcome{result, err}
		close(c)
	}()
	return c
}

// start marks the request as in flight and enters the gate of its model.
func (r *Request) start() (*Model, error) {
	m := orZero(r.model)
	if r.model == nil {
		return m, m.fail("evaluate", ErrClosed, "", "make a new request")
	}
	if !m.gate.enter() {
		return m, m.notReady("evaluate")
	}
	if err := r.take(); err != nil {
		m.gate.leave()
		return m, err
	}
	return m, nil
}

// guarded evaluates a request with tensors on mapped files.
func (r *Request) guarded(ctx context.Context) error {
	err := unimem.Guard(func() error { return r.run.Evaluate(ctx) }, r.files...)
	if !errors.Is(err, unimem.ErrChanged) {
		return err
	}
	return &Error{Op: "evaluate", Engine: r.model.engine(), Err: err}
}
