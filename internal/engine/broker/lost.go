package broker

import (
	"context"
	"errors"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// This file is what the end of a broker, or of a caller's context, means for a request.

// errEngineClosed is the cause of every failure after Close of the Engine.
var errEngineClosed = errors.New("the engine was closed")

// lost is the error of a request that was in flight when its connection ended.
func lost(cause error) *wire.Error { return &wire.Error{State: wire.Lost, Op: "ask", Cause: cause} }

// notSent is the error of a request that the broker has not seen.
func notSent(cause error) error { return &wire.Error{State: wire.Unsent, Op: "ask", Cause: cause} }

// inFlight is the error of work whose context ended before it did.
func inFlight(cause error) error { return &wire.Error{State: wire.InFlight, Op: "ask", Cause: cause} }

// isInFlight reports whether what err is about goes on, and what it holds stays taken.
func isInFlight(err error) bool { return errors.Is(err, wire.InFlight) }

// settled is err for a caller that does not wait: the context's error in place of wire.InFlight.
func settled(err error) error {
	if e, ok := errors.AsType[*wire.Error](err); ok && e.State == wire.InFlight {
		return e.Cause
	}
	return err
}

// gone reports whether a request failed because its connection is over, and with it everything that the request was
// about.
func gone(err error) bool { return errors.Is(err, wire.Lost) || errors.Is(err, wire.Unsent) }

// undone is the error of a request that undoes something: without its broker nothing is left to undo.
func undone(err error) error {
	if gone(err) {
		return nil
	}
	return err
}

// attempts is how often work is begun at most while one broker after the other ends before it saw the request.
const attempts = 3

// retry calls f until it fails for another reason than a broker that ended before it saw the request, attempts times
// at most.
func retry(f func() error) error {
	err := f()
	for made := 1; made < attempts && errors.Is(err, wire.Unsent) && !errors.Is(err, errEngineClosed); made++ {
		err = f()
	}
	return err
}

// outlast runs f in a goroutine and waits for it. When ctx ends first, f goes on, what it returns goes to late unless
// that is nil, and the error is wire.InFlight.
func outlast[T any](ctx context.Context, f func() (T, error), late func(T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := f()
		done <- result{value, settled(err)}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
	}
	if late != nil {
		go func() {
			r := <-done
			late(r.value, r.err)
		}()
	}
	var none T
	return none, inFlight(context.Cause(ctx))
}

// none is the result of work that has only an error.
type none = struct{}

// inTurn is outlast for an f that holds a token, which is given back when f ends.
func inTurn[T any](ctx context.Context, turn chan struct{}, f func() (T, error)) (T, error) {
	if err := enter(ctx, turn); err != nil {
		var none T
		return none, err
	}
	return outlast(ctx, func() (T, error) {
		defer func() { <-turn }()
		return f()
	}, nil)
}

// enter takes a token, or returns why ctx ended.
func enter(ctx context.Context, tokens chan struct{}) error {
	select {
	case tokens <- struct{}{}:
		return nil
	default:
	}
	select {
	case tokens <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// failed gives err, of any layer, the form in which callers see it.
func failed(ctx context.Context, op, name string, err error) error {
	if err == nil {
		return nil
	}
	fault := &ane.Error{Op: op, Engine: Name, Name: name}
	ended, ok := errors.AsType[*wire.Error](settled(err))
	_, formed := errors.AsType[*ane.Error](err)
	switch {
	case ok && gone(ended) && errors.Is(ended, errEngineClosed):
		fault.Err, fault.Detail = ane.ErrClosed, errEngineClosed.Error()
	case ok && gone(ended):
		fault.Err = ane.Because(ane.ErrLost, ended.Cause)
		fault.Hint = "call again: the next broker makes programs and requests again"
	case formed:
		return err
	case ctx.Err() != nil:
		fault.Err = ane.Because(ane.ErrDeadline, joinCause(ctx))
	default:
		fault.Err = ane.Because(ane.ErrEngine, err)
	}
	return fault
}

// joinCause is why ctx ended, matching ctx.Err in any case.
func joinCause(ctx context.Context) error {
	if cause := context.Cause(ctx); !errors.Is(cause, ctx.Err()) {
		return ane.Because(cause, ctx.Err())
	}
	return context.Cause(ctx)
}

// overdue is the error of a run that the broker ended at the deadline, before the context did.
func overdue(op string, err error) error {
	if errors.Is(err, ane.ErrDeadline) && !errors.Is(err, context.Canceled) &&
		!errors.Is(err, context.DeadlineExceeded) {
		return ane.Deadline(op, Name, context.DeadlineExceeded)
	}
	return err
}
