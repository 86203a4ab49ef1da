package broker

import (
	"context"
	"errors"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// Evaluate implements ane.Invocation. When ctx ends first, the broker gets a
// Cancel, and the Blocks stay held until it has ended the run.
func (v *invocation) Evaluate(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return ane.Deadline("evaluate", Name, joinCause(ctx))
	}
	err := enter(ctx, v.busy) // waits for a run that was given up
	if err == nil {
		err = v.run(ctx)
		for made := 1; made < attempts && unsent(err); made++ {
			err = v.run(ctx)
		}
		if err == nil {
			v.yield()
			return nil
		}
		if !isInFlight(err) {
			v.yield()
		}
	}
	return failed(ctx, "evaluate", v.exec.upload.request.File, overdue("evaluate", err))
}

// run evaluates once at the present broker. wire.InFlight means that the run itself is in
// flight, and no other request.
func (v *invocation) run(ctx context.Context) error {
	if v.closed.Load() {
		return &ane.Error{Op: "evaluate", Engine: Name, Err: ane.ErrClosed}
	}
	if err := v.ready(ctx); err != nil {
		return settled(err)
	}
	s := v.at
	if err := enter(ctx, s.queue); err != nil {
		return err
	}
	v.evaluate = wire.Evaluate{Request: v.bound.Request, QoS: v.qos, Sequence: s.sequence.Add(1)}
	v.evaluate.Deadline = remaining(ctx)
	v.payload = wire.Append(v.payload[:0], &v.evaluate)
	err := s.exchange(ctx, v.call, wire.KindEvaluate, v.payload)
	if isInFlight(err) {
		if (flight{s, v.call, v.evaluate.Sequence, []*invocation{v}}).giveUp() {
			return err
		}
		<-v.call.done // the answer has arrived
		err = v.call.err
	}
	if err == nil {
		err = s.understood(v.call.answer(wire.KindEvaluate, &v.done))
	}
	<-s.queue
	if errors.Is(err, wire.Lost) {
		err = flight{s, v.call, v.evaluate.Sequence, []*invocation{v}}.outlast(ctx, err)
	}
	return err
}
