package broker

import (
	"context"
	"errors"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// Evaluate implements ane.Invocation. When ctx ends first, the broker is told to
// stop, and the Blocks stay held until it has.
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
			v.leave()
			return nil
		}
		if !isInFlight(err) {
			v.leave()
		}
	}
	return failed(ctx, "evaluate", v.exec.upload.request.File, overdue(err))
}

// run evaluates once at the present broker. An outError means that the run itself
// is out, and nothing else.
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
	if end, ok := ctx.Deadline(); ok {
		v.evaluate.Deadline = uint64(max(time.Until(end), 1))
	}
	v.payload = v.evaluate.Append(v.payload[:0])
	err := s.exchange(ctx, v.call, wire.KindEvaluate, v.payload)
	if isInFlight(err) {
		if v.giveUp(s) {
			return err
		}
		<-v.call.done // the answer came meanwhile
		err = v.call.err
	}
	if err == nil {
		err = s.understood(v.call.answer(wire.KindEvaluate, &v.done))
	}
	<-s.queue
	if errors.Is(err, wire.Lost) {
		err = v.outlast(ctx, s, err)
	}
	return err
}

// hold keeps the Blocks open until free is called.
func (v *invocation) hold() (free func()) {
	var held []*block
	for _, t := range v.tensors {
		if b := t.Block(); b.Retain() == nil { // fails for a Block that is closed already
			held = append(held, b)
		}
	}
	return func() {
		for _, b := range held {
			b.Release()
		}
	}
}

// outlast waits until the broker that was lost, or left, in the middle of a run can write
// to the Blocks no more: it may not have ended yet. When ctx ends before, the run is out
// until then.
func (v *invocation) outlast(ctx context.Context, s *session, lost error) error {
	select {
	case <-s.buried:
		return lost
	default:
	}
	select {
	case <-s.buried:
		return lost
	case <-ctx.Done():
	}
	free := v.hold()
	go func() {
		<-s.buried
		v.leave()
		free()
	}()
	return inFlight(lost)
}

// giveUp leaves the run to the broker, which is told to stop it. The Blocks are
// held until it says that it has, or has ended. False when it has answered.
func (v *invocation) giveUp(s *session) bool {
	free := v.hold()
	sequence := v.evaluate.Sequence
	if !s.orphan(v.call, func(*call) {
		<-s.queue
		v.leave()
		free()
	}) {
		free()
		return false
	}
	s.post(wire.KindCancel, &wire.Cancel{Sequence: sequence})
	return true
}

// overdue is the error of a run that the broker ended at the deadline, before the
// context did.
func overdue(err error) error {
	if errors.Is(err, ane.ErrDeadline) && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		return ane.Deadline("evaluate", Name, context.DeadlineExceeded)
	}
	return err
}
