package broker

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire"
)

var _ ane.Chainer = (*engine)(nil)

// EvaluateChain implements ane.Chainer. One frame goes to the broker and one comes back,
// however many steps there are. The error matches ErrDenied where the broker's policy does not
// grant driverabi.EntitlementDataChaining, which a private broker does; ErrDeadline when ctx
// ended first; ErrForeign for an invocation of another engine.
func (e *engine) EvaluateChain(ctx context.Context, steps []ane.Invocation) error {
	if ctx.Err() != nil {
		return ane.Deadline("chain", Name, joinCause(ctx))
	}
	if len(steps) == 0 || len(steps) > wire.MaxSteps {
		return &ane.Error{Op: "chain", Engine: Name, Err: ane.ErrLength, Detail: fmt.Sprintf("%d requests", len(steps)),
			Hint: fmt.Sprintf("submit 1 to %d at a time", wire.MaxSteps)}
	}
	list := make([]*invocation, len(steps))
	var each []*invocation
	for i, step := range steps {
		v, ok := step.(*invocation)
		if !ok || v.exec.engine != e {
			return &ane.Error{Op: "chain", Engine: Name, Name: fmt.Sprintf("step %d of %d", i+1, len(steps)),
				Err: ane.ErrForeign, Hint: "submit requests of this engine"}
		}
		list[i] = v
		if !slices.Contains(each, v) {
			each = append(each, v)
		}
	}
	return failed(ctx, "chain", e.options.Path, overdue("chain", e.chain(ctx, list, each)))
}

// chain takes the requests, each once, and runs the steps. What is in flight still when it
// returns stays taken.
func (e *engine) chain(ctx context.Context, steps, each []*invocation) error {
	var taken flight
	for _, v := range each {
		if err := enter(ctx, v.busy); err != nil { // a run that was given up
			taken.yield()
			return err
		}
		taken.requests = append(taken.requests, v)
	}
	err := retry(func() error { return submit(ctx, steps, each) })
	if !isInFlight(err) {
		taken.yield()
	}
	return err
}

// submit runs a chain once at the present broker.
func submit(ctx context.Context, steps, each []*invocation) error {
	for _, v := range each {
		if v.closed.Load() {
			return &ane.Error{Op: "chain", Engine: Name, Err: ane.ErrClosed}
		}
		if err := v.ready(ctx); err != nil {
			return settled(err)
		}
	}
	s := each[0].at
	for _, v := range each {
		if v.at != s {
			return notSent(errors.New("the broker was replaced during the call"))
		}
	}
	if err := enter(ctx, s.queue); err != nil {
		return err
	}
	request := wire.Chain{Sequence: s.sequence.Add(1), Deadline: remaining(ctx)}
	for _, v := range steps {
		request.Steps = append(request.Steps, wire.Step{Request: v.bound.Request, QoS: v.qos})
	}
	f := flight{s, newCall(), request.Sequence, each}
	err := s.exchange(ctx, f.call, wire.KindChain, wire.Append(nil, &request))
	if isInFlight(err) {
		if f.giveUp() {
			return err
		}
		<-f.call.done // the answer has arrived
		err = f.call.err
	}
	if err == nil {
		err = s.understood(f.call.answer(wire.KindChain, &wire.Done{}))
	}
	<-s.queue
	if errors.Is(err, wire.Lost) {
		err = f.outlast(ctx, err)
	}
	return err
}
