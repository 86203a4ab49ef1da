package ane

import (
	"context"
	"slices"
	"time"
)

// Chainer is an Engine that runs several requests in one submission.
type Chainer interface {
	// EvaluateChain runs invocations of this engine one after another and returns when the
	// last one has written its outputs. Later steps read what earlier ones wrote, on the same
	// surfaces; an invocation may be a step several times. The first failure ends the chain:
	// the outputs of the steps before it are written, later steps do not run.
	EvaluateChain(ctx context.Context, steps []Invocation) error
}

// EvaluateChain runs requests of this device one after another, in one submission to the
// engine, and returns when the last one has written its outputs. Bind an output of one
// request and an input of the next to the same tensor: the next request reads what the one
// before wrote. A request may occur several times. During the call the engine owns all
// tensors. Elapsed of the Result covers the whole chain.
//
// The first failure ends the chain and names the step; the outputs of the steps before it are written, later steps do
// not run. Errors: errors.ErrUnsupported (every engine except the broker), ErrDenied (a shared broker whose policy does
// not grant chains), ErrForeign (a request of another device), and those of Request.Evaluate.
func (d *Device) EvaluateChain(ctx context.Context, requests ...*Request) (Result, error) {
	d = orZero(d)
	ctx = given(ctx)
	c, err := offered[Chainer](d, "chain", "the engine takes one request at a time",
		"evaluate the requests one after another, or open the broker")
	if err != nil {
		return Result{}, err
	}
	if err := d.chainable(requests); err != nil {
		return Result{}, err
	}
	var started []*Request
	defer func() {
		for _, r := range started {
			r.end()
		}
	}()
	steps := make([]Invocation, len(requests))
	for i, r := range requests {
		if !slices.Contains(started, r) {
			if err := r.start(); err != nil {
				return Result{}, err
			}
			started = append(started, r)
		}
		steps[i] = r.run
	}
	if err := ctx.Err(); err != nil {
		return Result{}, Deadline("chain", d.info.Name, err)
	}
	start := time.Now()
	err = c.EvaluateChain(ctx, steps)
	last := requests[len(requests)-1]
	return Result{Receipt: last.model.receipt, Elapsed: time.Since(start), QoS: last.qos}, err
}

// chainable refuses what is no chain of this device's requests.
func (d *Device) chainable(requests []*Request) error {
	fail := func(err error, detail, hint string) error {
		return &Error{Op: "chain", Engine: d.info.Name, Err: err, Detail: detail, Hint: hint}
	}
	if len(requests) == 0 {
		return fail(ErrLength, "no request", "submit at least one")
	}
	for _, r := range requests {
		switch {
		case r == nil || r.model == nil:
			return fail(ErrClosed, "a request is nil or closed", "make a new request")
		case r.model.device != d:
			return fail(ErrForeign, "a request of another device", "submit requests of this device")
		}
	}
	return nil
}
