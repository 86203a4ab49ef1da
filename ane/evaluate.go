package ane

import "context"

// Evaluate runs the request and returns when the outputs are written. The request may be
// used again at once. While the call lasts, inputs and outputs are the engine's: the
// caller neither writes the former nor reads the latter.
//
// The error matches ErrNotLoaded after Model.Unload, ErrBusy while another run of the
// request is in flight, ErrStale when the memory of a tensor is gone, ErrDeadline when ctx
// ended first; then the outputs may hold anything.
func (r *Request) Evaluate(ctx context.Context) (Result, error) {
	r = r.orZero()
	if r.model == nil {
		return Result{}, r.model.orZero().fail("evaluate", ErrClosed, "", "make a new request")
	}
	return r.model.Evaluate(ctx, r)
}

// Outcome is what a run in the background came to.
type Outcome struct {
	Result Result
	Err    error // as Evaluate returns it
}

// EvaluateAsync starts a run and returns at once. The channel gets exactly one Outcome,
// also when the run could not start, and is closed then. It has room for it, so a caller
// that stops waiting leaves nothing behind.
//
// From this call until the Outcome is there, the request is in flight: its tensors are the
// engine's, further runs of it answer ErrBusy, and so does Close. The caller who receives
// the Outcome has the request back. A run that is to end early ends by ctx.
func (r *Request) EvaluateAsync(ctx context.Context) <-chan Outcome {
	r = r.orZero()
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

// start takes the request for a run and enters the gate of its model.
func (r *Request) start() (*Model, error) {
	m := r.model.orZero()
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
