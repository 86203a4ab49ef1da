package broker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// evaluation is a chain of requests that run at one broker one after the other, most often of one.
type evaluation struct {
	op, name string // for errors
	steps    []*invocation
	requests []*invocation // of steps, each once; taken while the evaluation is in flight

	pending *pending
	payload []byte
	done    wire.Done
}

// evaluate takes the requests and runs the steps. What is in flight still when it returns stays taken.
func (r *evaluation) evaluate(ctx context.Context) error {
	if ctx.Err() != nil {
		return ane.Deadline(r.op, Name, joinCause(ctx))
	}
	err := r.take(ctx)
	if err == nil {
		err = retry(func() error { return r.run(ctx) })
		if !isInFlight(err) {
			r.yield()
		}
	}
	return failed(ctx, r.op, r.name, overdue(r.op, err))
}

// take takes the requests, once the runs of them that were given up have ended.
func (r *evaluation) take(ctx context.Context) error {
	for i, v := range r.requests {
		if err := enter(ctx, v.busy); err != nil {
			for _, v := range r.requests[:i] {
				<-v.busy
			}
			return err
		}
	}
	return nil
}

// yield gives the requests back.
func (r *evaluation) yield() {
	for _, v := range r.requests {
		<-v.busy
	}
}

// bind makes sure that the requests are bound at the present broker. When ctx ends first, the error is wire.InFlight.
func (r *evaluation) bind(ctx context.Context) error {
	bound := true
	for _, v := range r.requests {
		if v.closed.Load() {
			return &ane.Error{Op: r.op, Engine: Name, Err: ane.ErrClosed}
		}
		bound = bound && v.bound()
	}
	if bound {
		return nil
	}
	_, err := outlast(ctx, func() (_ none, err error) {
		for _, v := range r.requests {
			if err = v.bind(ctx); err != nil {
				break
			}
		}
		return none{}, err
	}, func(none, error) { r.yield() })
	return err
}

// run runs the steps once at the present broker. wire.InFlight means that abandon gives the requests back.
func (r *evaluation) run(ctx context.Context) error {
	if err := r.bind(ctx); err != nil {
		return err
	}
	l := r.requests[0].at
	for _, v := range r.requests {
		if v.at != l {
			return notSent(errors.New("the broker was replaced during the call"))
		}
	}
	if err := enter(ctx, l.queue); err != nil {
		return err
	}
	sequence := l.runs.Add(1)
	kind := r.request(ctx, sequence)
	err := l.exchange(ctx, r.pending, kind, r.payload)
	ended := !isInFlight(err)
	if err == nil {
		err = l.understood(r.pending.answer(kind, &r.done))
	}
	if errors.Is(err, wire.Lost) { // while the broker's process lives, it can write to the Blocks
		select {
		case <-l.buried:
		case <-ctx.Done():
			err = inFlight(err)
		}
	}
	if isInFlight(err) {
		r.abandon(l, sequence, ended)
		return err
	}
	<-l.queue
	return err
}

// request writes the payload. Only a chain needs the entitlement for it.
func (r *evaluation) request(ctx context.Context, sequence uint64) wire.Kind {
	if v := r.steps[0]; r == &v.alone {
		m := wire.Evaluate{Request: v.request, QoS: v.qos, Sequence: sequence, Deadline: remaining(ctx)}
		r.payload = wire.Append(r.payload[:0], &m)
		return wire.KindEvaluate
	}
	m := wire.Chain{Sequence: sequence, Deadline: remaining(ctx)}
	for _, v := range r.steps {
		m.Steps = append(m.Steps, wire.Step{Request: v.request, QoS: v.qos})
	}
	r.payload = wire.Append(r.payload[:0], &m)
	return wire.KindChain
}

// abandon leaves a run to the broker, and cancels it there unless its connection has ended. The requests stay taken,
// and their Blocks open, until the broker answers or has gone.
func (r *evaluation) abandon(l *link, sequence uint64, ended bool) {
	var held []*block
	for _, v := range r.requests {
		for _, t := range v.tensors {
			if b := t.Block(); b.Retain() == nil { // fails for a Block that is closed already
				held = append(held, b)
			}
		}
	}
	go func() {
		if !ended {
			_ = l.ask(wire.KindCancel, &wire.Cancel{Sequence: sequence}, &wire.Cancelled{}) // or it runs to its end
			ended = l.await(context.Background(), r.pending) != nil
		}
		if ended {
			<-l.buried
		}
		<-l.queue
		for _, b := range held { // first: Close of a request waits for its turn, and then nothing holds its Blocks
			b.Release()
		}
		r.yield()
	}()
}

// remaining is the deadline of ctx as the broker takes it: nanoseconds from now, 0 for none.
func remaining(ctx context.Context) uint64 {
	if end, ok := ctx.Deadline(); ok {
		return uint64(max(time.Until(end), 1))
	}
	return 0
}

var _ ane.Chainer = (*engine)(nil)

// EvaluateChain implements ane.Chainer. One frame goes to the broker and one comes back, however many steps there are.
// The error matches ErrDenied if the broker's policy does not grant driverabi.EntitlementDataChaining; a private
// broker's does. It matches ErrDeadline when ctx ended first, and ErrForeign for an invocation of another engine.
func (e *engine) EvaluateChain(ctx context.Context, steps []ane.Invocation) error {
	if len(steps) == 0 || len(steps) > wire.MaxSteps {
		return &ane.Error{Op: "chain", Engine: Name, Err: ane.ErrLength, Detail: fmt.Sprintf("%d requests", len(steps)),
			Hint: fmt.Sprintf("submit 1 to %d at a time", wire.MaxSteps)}
	}
	r := evaluation{op: "chain", name: e.options.Path, pending: newPending()}
	for i, step := range steps {
		v, ok := step.(*invocation)
		if !ok || v.exec.engine != e {
			return &ane.Error{Op: "chain", Engine: Name, Name: fmt.Sprintf("step %d of %d", i+1, len(steps)),
				Err: ane.ErrForeign, Hint: "submit requests of this engine"}
		}
		r.steps = append(r.steps, v)
		if !slices.Contains(r.requests, v) {
			r.requests = append(r.requests, v)
		}
	}
	return r.evaluate(ctx)
}
