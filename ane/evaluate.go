package ane

import (
	"context"
	"errors"
	"time"

	"github.com/anekit/anekit/unimem"
)

// Evaluate runs the request and returns when the outputs are written. The request may be
// used again at once. During the call the engine owns the tensors: the caller must not
// write inputs or read outputs.
//
// Errors: ErrNotLoaded (after Model.Unload), ErrBusy (another run of the request is in flight), ErrForeign (the request
// is in its Pool), ErrStale (the memory of a tensor is closed), ErrDeadline (ctx ended first), unimem.ErrChanged (an
// input is on a mapped file that has become shorter). After the last two the content of the outputs is undefined.
func (r *Request) Evaluate(ctx context.Context) (Result, error) {
	r = orZero(r)
	if err := r.start(); err != nil {
		return Result{}, err
	}
	defer r.end()
	return r.evaluate(given(ctx))
}

// evaluate runs a request between start and end.
func (r *Request) evaluate(ctx context.Context) (Result, error) {
	m := r.model
	if err := ctx.Err(); err != nil {
		return Result{}, Deadline("evaluate", m.device.info.Name, err)
	}
	start := time.Now()
	var err error
	if len(r.files) == 0 {
		err = r.run.Evaluate(ctx)
	} else {
		err = r.guarded(ctx)
	}
	return Result{Receipt: m.receipt, Elapsed: time.Since(start), QoS: r.qos}, err
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
	if err := r.start(); err != nil {
		c <- Outcome{Err: err}
		close(c)
		return c
	}
	go func() {
		result, err := r.evaluate(given(ctx))
		r.end()
		c <- Outcome{result, err}
		close(c)
	}()
	return c
}

// guarded evaluates a request with tensors on mapped files.
func (r *Request) guarded(ctx context.Context) error {
	err := unimem.Guard(func() error { return r.run.Evaluate(ctx) }, r.files...)
	if !errors.Is(err, unimem.ErrChanged) {
		return err
	}
	return &Error{Op: "evaluate", Engine: r.model.engine(), Err: err}
}
