package ane

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Chainer is an Engine that runs several requests in one submission.
type Chainer interface {
	// EvaluateChain runs invocations of this engine one after another and returns when the
	// last one has written its outputs. Later steps read what earlier ones wrote, on the same
	// surfaces; an invocation may be a step several times. The first failure ends the chain:
	// the outputs of the steps before it are written, later steps do not run. An engine around another one that has no
	// chains returns errors.ErrUnsupported itself, not an error that wraps it: the Device then evaluates the steps.
	EvaluateChain(ctx context.Context, steps []Invocation) error
}

// EvaluateChain runs requests of this device one after another and returns when the last one has written its outputs.
// The broker takes them in one submission; with any other engine the Device evaluates each in turn. Bind an output of
// one request and an input of the next to the same tensor: the next request reads what the one before wrote. A request
// may occur several times. During the call the engine owns all tensors. Elapsed of the Result covers the whole chain.
//
// The first failure ends the chain and names the step; the outputs of the steps before it are written, later steps do
// not run. Errors: ErrDenied (a shared broker whose policy does not grant chains), ErrForeign (a request of another
// device), and those of Request.Evaluate.
func (d *Device) EvaluateChain(ctx context.Context, requests ...*Request) (Result, error) {
	d = orZero(d)
	ctx = given(ctx)
	engine, err := offered[Engine](d, "chain", "", "")
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
	err = errors.ErrUnsupported
	if c, ok := engine.(Chainer); ok {
		err = c.EvaluateChain(ctx, steps)
	}
	if err == errors.ErrUnsupported { //nolint:errorlint // an engine that failed in a step may wrap it
		err = inTurn(ctx, requests)
	}
	last := requests[len(requests)-1]
	return Result{Receipt: last.model.receipt, Elapsed: time.Since(start), QoS: last.qos}, err
}

// inTurn evaluates started requests until one fails. Its error has what the engine said, and names the step.
func inTurn(ctx context.Context, requests []*Request) error {
	for i, r := range requests {
		_, err := r.evaluate(ctx)
		if err == nil {
			continue
		}
		failed := Error{Engine: r.model.engine(), Err: err}
		if e, ok := err.(*Error); ok { //nolint:errorlint // of Evaluate itself
			failed = *e
		}
		failed.Op, failed.Name = "chain", strings.TrimSpace(fmt.Sprintf("step %d of %d %s", i+1, len(requests), failed.Name))
		return &failed
	}
	return nil
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
