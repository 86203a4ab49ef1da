package broker

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

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
		return named(&reply), nil
	case ctx.Err() != nil:
		return nil, ane.Deadline("stats", Name, joinCause(ctx))
	}
	return nil, unreachable("stats", path, err)
}

// statistics makes the one call of a connection.
func statistics(ctx context.Context, path string) (reply wire.Stats, err error) {
	fd, err := dial(ctx, path)
	if err != nil {
		return reply, err
	}
	conn, err := newConn(fd)
	if err != nil {
		return reply, err
	}
	l := newLink(conn, nil, nil)
	defer l.close(errEngineClosed, 0)
	return outlast(ctx, func() (reply wire.Stats, err error) {
		err = l.ask(wire.KindStats, &wire.Empty{}, &reply)
		return reply, err
	}, nil)
}

// named are counters by their names.
func named(s *wire.Stats) map[string]uint64 {
	named := make(map[string]uint64, len(s.Counters))
	for _, one := range s.Counters {
		named[one.Name] = one.Value
	}
	return named
}

// unreachable tells why there is no broker. The hint of a connection's error gives way to one about the broker.
func unreachable(op, path string, err error) error {
	if errors.Is(err, ane.ErrUnavailable) {
		return err // which says why
	}
	fault := &ane.Error{Op: op, Engine: Name, Name: path}
	switch {
	case path == "":
		fault.Detail = "no private broker could be started"
		fault.Hint = "check that /proc is mounted and that the limits on processes and files " +
			"(ulimit -u, ulimit -n) leave room"
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED):
		fault.Detail = "no broker listens there"
		fault.Hint = "start one with `ane-roundtrip broker`, or leave the path out for a private one"
		if op == "stats" {
			fault.Hint = "start one with `ane-roundtrip broker`, or name the socket of one that runs"
		}
	default:
		if e, ok := errors.AsType[*wire.Error](err); ok {
			plain := *e
			plain.Hint = ""
			err = &plain
		}
		fault.Hint = "end the process that listens there, or name the socket of a broker of this user and release"
	}
	fault.Err = ane.Because(ane.ErrUnavailable, err)
	return fault
}
