package broker

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// session is one broker: the connection to it, and what it knows of this client. When it
// ends, the engine takes the next one in its place.
type session struct {
	*transport
	proc     *process // nil for a shared broker
	hello    wire.HelloReply
	surfaces surfaces
	queue    chan struct{} // a token for each evaluation that is in flight
	sequence atomic.Uint64 // of evaluations
}

func newSession(conn *wire.Conn, fd int, proc *process) *session {
	s := &session{proc: proc}
	s.surfaces.open = map[*block]*surface{}
	s.transport = newTransport(conn, fd, s.surfaces.forget, func(d time.Duration) error { return proc.stop(d) })
	return s
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

// failed gives err, of whatever layer, the form in which callers see it.
func failed(ctx context.Context, op, name string, err error) error {
	switch e, ok := errors.AsType[*wire.Error](settled(err)); {
	case err == nil:
		return nil
	case ok && gone(e) && errors.Is(e, errEngineClosed):
		return &ane.Error{Op: op, Engine: Name, Name: name, Err: ane.ErrClosed, Detail: errEngineClosed.Error()}
	case ok && gone(e):
		return &ane.Error{Op: op, Engine: Name, Name: name, Err: ane.Because(ane.ErrLost, e.Cause),
			Hint: "call again: the next broker makes programs and requests again"}
	}
	if _, ok := errors.AsType[*ane.Error](err); ok {
		return err
	}
	if ctx.Err() != nil {
		return &ane.Error{Op: op, Engine: Name, Name: name, Err: ane.Because(ane.ErrDeadline, joinCause(ctx))}
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
