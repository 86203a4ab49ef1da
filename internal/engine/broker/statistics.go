package broker

import (
	"context"
	"errors"
	"fmt"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// Statistics asks the shared broker at path for its counters, by their names. It takes none of the places for clients,
// so a broker without a free one answers too. The names that begin with "own" are about this connection alone.
//
// Errors match ane.ErrUnavailable when no broker of this user answers there, or ane.ErrDeadline when ctx ended first.
func Statistics(ctx context.Context, path string) (map[string]uint64, error) {
	reply, err := statistics(ctx, path)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return nil, ane.Deadline("stats", Name, joinCause(ctx))
	case errors.Is(err, ane.ErrUnavailable):
		return nil, err // which says why
	default:
		fault := &ane.Error{Op: "stats", Engine: Name, Name: path, Err: ane.Because(ane.ErrUnavailable, bare(err)),
			Hint: "name the socket of a broker, and ask as its user with a program of its release"}
		if absent(err) {
			fault.Detail = "no broker listens there"
			fault.Hint = "start one with `ane-roundtrip broker`, or name the socket of one that runs"
		}
		return nil, fault
	}
	return reply.named(), nil
}

// counters are those of an answer.
type counters wire.Stats

// named are the counters by their names.
func (c *counters) named() map[string]uint64 {
	named := make(map[string]uint64, len(c.Counters))
	for _, one := range c.Counters {
		named[one.Name] = one.Value
	}
	return named
}

// statistics makes the one call of a connection.
func statistics(ctx context.Context, path string) (*counters, error) {
	fd, err := dial(ctx, path)
	if err != nil {
		return nil, err
	}
	conn, err := wire.NewConn(fd)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })() // never fails
	const id = 1
	if err := conn.Send(wire.Frame{Kind: wire.KindStats, ID: id}); err != nil {
		return nil, err
	}
	f, fds, err := conn.Receive(make([]byte, wire.MaxFrame))
	fds.Close()
	if err != nil {
		return nil, err
	}
	var reply wire.Stats
	switch {
	case f.ID != id:
		return nil, fmt.Errorf("the broker answers request %d, not %d", f.ID, id)
	case f.Kind == wire.KindFault:
		var fault wire.Fault
		if err := wire.Parse(f.Payload, &fault); err != nil {
			return nil, err
		}
		return nil, fault.Err()
	case f.Kind != wire.KindStats|wire.Reply:
		return nil, errStray(f.Kind)
	}
	return (*counters)(&reply), wire.Parse(f.Payload, &reply)
}
