package broker

import (
	"context"
	"errors"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// call is one request on its way and then its answer. A call may be used again
// once it has been answered.
type call struct {
	id   uint64        // slot in the low half, a serial number above; never 0
	done chan struct{} // gets one token when the answer is there
	late func(*call)   // set when nobody waits any more: called instead
	rung bool          // it went by the bell and has no slot

	// The answer; written before done gets its token.
	kind wire.Kind
	body []byte
	err  error // *lostError instead of an answer
}

func newCall() *call { return &call{done: make(chan struct{}, 1)} }

// slot is where the session keeps the call.
func slotOf(id uint64) int { return int(uint32(id)) }

// answer reads the answer to a request of kind k into p, or returns the fault that
// came instead.
func (c *call) answer(k wire.Kind, p wire.Payload) error {
	switch {
	case c.err != nil:
		return c.err
	case c.kind == wire.KindFault:
		var f wire.Fault
		if err := f.Parse(c.body); err != nil {
			return err
		}
		return f.Err()
	case c.kind != k|wire.Reply:
		return &wire.Error{Op: "receive", Kind: c.kind, Err: wire.ErrKind, Detail: "in answer to " + k.String()}
	}
	return p.Parse(c.body)
}

// lostError is why a session is over.
type lostError struct {
	cause  error
	unsent bool // the broker never saw the request: it may be sent to the next one
	closed bool // by the Engine's Close
}

func (e *lostError) Error() string { return e.cause.Error() }
func (e *lostError) Unwrap() error { return e.cause }

// unsent reports whether a call can be made again elsewhere.
func unsent(err error) bool {
	l, ok := errors.AsType[*lostError](err)
	return ok && l.unsent && !l.closed
}

// again calls f until it fails for another reason than a broker that had ended
// before it saw the request, a few times at most.
func again(f func() error) error {
	err := f()
	for tries := 0; tries < 2 && unsent(err); tries++ {
		err = f()
	}
	return err
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
		return ended(ctx)
	}
}

// gone reports whether a call failed because its session is over, and with it
// everything that the call was about.
func gone(err error) bool {
	_, ok := errors.AsType[*lostError](err)
	return ok
}

// outError is the error of a call whose context ended while it was out. What it
// is about stays taken until the answer comes.
type outError struct{ cause error }

func (e outError) Error() string { return e.cause.Error() }
func (e outError) Unwrap() error { return e.cause }

func isOut(err error) bool {
	_, ok := errors.AsType[outError](err)
	return ok
}

// ended is the error of a call that its context ended.
func ended(ctx context.Context) error { return context.Cause(ctx) }

// failed gives err, of whatever layer, the form in which callers see it.
func failed(ctx context.Context, op, name string, err error) error {
	if err == nil {
		return nil
	}
	if lost, ok := errors.AsType[*lostError](err); ok {
		if lost.closed {
			return &ane.Error{Op: op, Engine: Name, Name: name, Err: ane.ErrClosed, Detail: "the engine was closed"}
		}
		return &ane.Error{Op: op, Engine: Name, Name: name, Err: ane.Because(ane.ErrLost, lost.cause),
			Hint: "call again: programs and requests are made anew in the next broker"}
	}
	if _, ok := errors.AsType[*ane.Error](err); ok {
		return err
	}
	if ctx.Err() != nil {
		return ane.Deadline(op, Name, joinCause(ctx))
	}
	return &ane.Error{Op: op, Engine: Name, Name: name, Err: ane.Because(ane.ErrEngine, err)}
}

// joinCause is why ctx ended, matching ctx.Err in any case.
func joinCause(ctx context.Context) error {
	if cause := context.Cause(ctx); !errors.Is(cause, ctx.Err()) {
		return ane.Because(cause, ctx.Err())
	}
	return context.Cause(ctx)
}
