package broker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// Open starts a private broker, or connects to the shared one of o.Path. The
// Engine is used as every other; its Close ends a private broker. What it sends
// and keeps:
//
//   - of each Block the descriptor, once, when it is bound first;
//   - of a program a copy of its text and of the weight files that it names, in
//     memfds which the broker reads and which stay until the Executable is closed;
//     programs share the copy of a file of 64 KiB or more;
//   - of tensors nothing.
//
// The error matches ane.ErrUnavailable and says why and what to do, or
// ane.ErrDeadline when ctx ended first.
func Open(ctx context.Context, o Options) (ane.Engine, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	if err := ctx.Err(); err != nil {
		return nil, ane.Deadline("open", Name, joinCause(ctx))
	}
	e := &engine{options: o.settled()}
	e.life, e.stop = context.WithCancel(context.Background())
	s, err := e.session(ctx)
	if err != nil {
		return nil, errors.Join(failed(ctx, "open", o.Path, err), e.Close())
	}
	e.info = e.describe(s)
	return e, nil
}

// DefaultPath is where a shared broker listens by default:
// anekit/broker.sock in the folder that the system keeps for running programs of
// this user, or in a folder of this user's in the one for temporary files.
func DefaultPath() string {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "anekit", "broker.sock")
	}
	return filepath.Join("/tmp", "anekit-"+strconv.Itoa(os.Getuid()), "broker.sock")
}

// describe is the engine that answers a session.
func (e *engine) describe(s *session) ane.Info {
	h := &s.hello
	return ane.Info{Name: Name, Chip: h.Chip, OSBuild: h.OSBuild, Numerics: h.Numerics, Offsets: h.Offsets,
		Sharing: "each surface is mapped by its descriptor in the broker's process"}
}

// reach gets a new session, whose broker has greeted.
func (e *engine) reach(ctx context.Context) (*session, error) {
	if err := ctx.Err(); err != nil { // the engine was closed
		return nil, notSent(errEngineClosed)
	}
	s, err := e.link(ctx)
	if err != nil {
		return nil, err
	}
	if err := e.greet(ctx, s); err != nil {
		s.close(err, 0)
		<-s.buried
		return nil, err
	}
	return s, nil
}

// link starts or finds the broker.
func (e *engine) link(ctx context.Context) (*session, error) {
	var proc *process
	var fd int
	err := Probe()
	switch {
	case err != nil:
		return nil, e.unreachable(err)
	case e.options.Path == "":
		proc, fd, err = startProcess(ctx, e.options)
	default:
		fd, err = dial(ctx, e.options.Path)
	}
	if err != nil {
		return nil, e.unreachable(err)
	}
	conn, err := wire.NewConn(fd)
	if err == nil {
		if err = conn.SetPatience(slice); err != nil {
			_ = conn.Close()
		}
	}
	if err != nil {
		return nil, e.unreachable(errors.Join(err, proc.stop(0)))
	}
	return newSession(conn, fd, proc), nil
}

// unreachable tells why there is no broker.
func (e *engine) unreachable(err error) error {
	if errors.Is(err, ane.ErrUnavailable) {
		return err // which says why
	}
	fault := &ane.Error{Op: "open", Engine: Name, Name: e.options.Path, Err: ane.Because(ane.ErrUnavailable, err)}
	switch {
	case e.options.Path == "":
		fault.Detail = "no private broker could be started"
		fault.Hint = "check that /proc is mounted and that the limits on processes and files " +
			"(ulimit -u, ulimit -n) leave room"
	case absent(err):
		fault.Detail = "no broker listens there"
		fault.Hint = "start one with `ane-roundtrip broker`, or leave the path out for a private one"
	default:
		fault.Err = ane.Because(ane.ErrUnavailable, bare(err))
		fault.Hint = "check that a broker of this user and release listens there, or leave the path out for a private one"
	}
	return fault
}

// silent is the error for a broker that does not greet, or for another program that listens in its place.
func (e *engine) silent(cause error) error {
	hint := "end its process and open the engine again"
	if e.options.Path != "" {
		hint = "end the process that listens there, or name the socket of another broker"
	}
	return &ane.Error{Op: "open", Engine: Name, Name: e.options.Path, Err: ane.Because(ane.ErrUnavailable, cause),
		Hint: hint}
}

// bare is the error of a connection without its hint, for one that has another hint.
func bare(err error) error {
	if e, ok := errors.AsType[*wire.Error](err); ok {
		plain := *e
		plain.Hint = ""
		return &plain
	}
	return err
}

// greet is the first exchange. A broker that comes later has to be like the first,
// which receipts speak of.
func (e *engine) greet(ctx context.Context, s *session) error {
	exe, err := os.Executable()
	if err != nil {
		exe = "" // only for logs
	}
	bell, memory, err := wire.NewBell()
	if err != nil {
		return e.unreachable(err)
	}
	defer memory.Close()
	hello := &wire.Hello{Version: wire.Version, Tier: e.options.Tier, Numerics: uint32(e.options.Numerics),
		Executable: exe}
	if err := s.ask(ctx, wire.KindHello, hello, &s.hello, nil, int(memory.Fd())); err != nil {
		_ = bell.Close() // never fails
		if ended, ok := errors.AsType[*wire.Error](settled(err)); ok && gone(ended) {
			return e.unreachable(fmt.Errorf("it ended before it greeted: %w", ended.Cause))
		}
		if errors.Is(ctx.Err(), context.DeadlineExceeded) { // that of Options.Patience: see try
			return e.silent(context.Cause(ctx))
		}
		return failed(ctx, "open", e.options.Path, err)
	}
	s.install(bell, s.hello.Bell)
	if s.hello.Version != wire.Version {
		return e.unreachable(fmt.Errorf("the broker speaks version %d, this program version %d", s.hello.Version,
			wire.Version))
	}
	if now := e.describe(s); e.info != (ane.Info{}) && now != e.info {
		return &ane.Error{Op: "open", Engine: Name, Name: e.options.Path,
			Err:    ane.Because(ane.ErrUnavailable, errors.New("the broker is not the one from before")),
			Detail: fmt.Sprintf("%+v, before %+v", now, e.info), Hint: "close the engine and open it again"}
	}
	s.queue = make(chan struct{}, max(int(s.hello.Limits.Queued), 1))
	return nil
}
