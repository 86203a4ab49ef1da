package broker

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// executable is a program that the broker compiles, and that each broker after
// the first compiles again when it is needed.
type executable struct {
	engine  *engine
	upload  *upload
	in, out []ane.Layout
	notes   []string
	cached  bool

	// turn holds a token while a request about the program is in flight, even after its
	// caller has stopped waiting. It guards at, program and loaded.
	turn    chan struct{}
	at      *session // where it is compiled
	program uint32
	loaded  bool         // there
	wanted  atomic.Bool  // by the Model
	loads   atomic.Int64 // changes with at and loaded, so that invocations notice

	closed   atomic.Bool
	finished sync.Once

	base   *executable // of which this is an instance, nil for a compiled program
	family family
}

// Compile implements ane.Engine.
func (e *engine) Compile(ctx context.Context, src ane.Source) (ane.Executable, error) {
	if err := ctx.Err(); err != nil {
		return nil, ane.Deadline("compile", Name, joinCause(ctx))
	}
	u, err := newUpload(src, &e.shelf)
	if err != nil {
		return nil, failed(ctx, "compile", src.File, err)
	}
	x := &executable{engine: e, upload: u, turn: make(chan struct{}, 1)}
	if err := x.ready(ctx); err != nil {
		x.closed.Store(true)
		x.tidy()
		return nil, failed(ctx, "compile", src.File, u.explain(err))
	}
	return x, nil
}

// Inputs implements ane.Executable.
func (x *executable) Inputs() []ane.Layout { return x.in }

// Outputs implements ane.Executable.
func (x *executable) Outputs() []ane.Layout { return x.out }

// Cached implements ane.Executable.
func (x *executable) Cached() bool { return x.cached }

// Notes implements ane.Executable.
func (x *executable) Notes() []string { return x.notes }

// yield gives the turn back after a call that returned err, unless the request is
// in flight still: then the reader of the answer does it.
func (x *executable) yield(err error) {
	if !isInFlight(err) {
		<-x.turn
		x.tidy()
	}
}

// tidy frees a closed program, unless another call has the turn, which will.
func (x *executable) tidy() {
	if !x.closed.Load() {
		return
	}
	select {
	case x.turn <- struct{}{}:
		x.finished.Do(x.finish)
		<-x.turn
	default:
	}
}

// finish frees the program, in turn.
func (x *executable) finish() {
	if x.at != nil {
		x.at.post(wire.KindRelease, &wire.Release{Program: x.program})
		x.at = nil
	}
	_ = x.upload.close() // memfds: nothing is written that could get lost
}

// ask is session.ask for a request about the program. settle notes what a good
// answer changes; it runs in turn, even when no caller waits for the answer any more.
func (x *executable) ask(ctx context.Context, s *session, k wire.Kind, request, reply wire.Payload, settle func(),
	fds ...int) error {
	late := func(c *call) {
		if c.answer(k, reply) == nil {
			settle()
		}
		x.yield(nil)
	}
	err := s.ask(ctx, k, request, reply, late, fds...)
	if err == nil {
		settle()
	}
	return err
}

// place makes the program ready and tells where it is.
func (x *executable) place(ctx context.Context) (s *session, program uint32, loads int64, err error) {
	if err := x.ready(ctx); err != nil {
		return nil, 0, 0, err
	}
	if err := enter(ctx, x.turn); err != nil {
		return nil, 0, 0, err
	}
	defer x.yield(nil)
	if x.at == nil { // its broker ended since, or it was closed
		return nil, 0, 0, notSent(errors.New("the program is gone"))
	}
	return x.at, x.program, x.loads.Load(), nil
}

// ready compiles the program at the present broker if that has not been done, and
// loads it there if it is wanted.
func (x *executable) ready(ctx context.Context) (err error) {
	if err := enter(ctx, x.turn); err != nil {
		return err
	}
	defer func() { x.yield(err) }()
	if x.closed.Load() {
		return &ane.Error{Op: "load", Engine: Name, Name: x.upload.request.File, Err: ane.ErrClosed}
	}
	return retry(func() error {
		s, err := x.engine.session(ctx)
		if err == nil && x.at != s {
			err = x.compile(ctx, s)
		}
		if err != nil || !x.wanted.Load() || x.loaded {
			return err
		}
		request := wire.Load{Program: x.program, QoS: uint32(ane.QoSDefault)}
		return x.ask(ctx, s, wire.KindLoad, &request, &wire.Loaded{}, func() { x.changed(s, true) })
	})
}

// changed notes where the program is and whether it is loaded there.
func (x *executable) changed(at *session, loaded bool) {
	x.at, x.loaded = at, loaded
	x.loads.Add(1)
}

// compile sends the program, or makes the instance.
func (x *executable) compile(ctx context.Context, s *session) error {
	var reply wire.Compiled
	settle := func() { // in the turn, so no other call reads
		x.program = reply.Program
		x.changed(s, false)
	}
	if err := x.make(ctx, s, &reply, settle); err != nil {
		return err
	}
	same := func(a, b ane.Layout) bool { return a.Name == b.Name && a.Equal(b) }
	switch {
	case x.out == nil:
		x.in, x.out, x.notes, x.cached = reply.In, reply.Out, reply.Notes, reply.Cached
	case !slices.EqualFunc(x.in, reply.In, same) || !slices.EqualFunc(x.out, reply.Out, same):
		s.post(wire.KindRelease, &wire.Release{Program: x.program})
		x.changed(nil, false)
		return &ane.Error{Op: "compile", Engine: Name, Name: x.upload.request.File, Err: ane.ErrMismatch,
			Detail: "the next broker lays the program out in another way", Hint: "compile it again"}
	}
	return nil
}

// Load implements ane.Executable.
func (x *executable) Load(ctx context.Context) error {
	x.wanted.Store(true)
	err := x.ready(ctx)
	x.wanted.Store(err == nil)
	return failed(ctx, "load", x.upload.request.File, err)
}

// Unload implements ane.Executable. A program whose broker has gone is unloaded.
func (x *executable) Unload(ctx context.Context) error {
	err := x.unload(ctx)
	x.wanted.Store(err != nil && !gone(err))
	if gone(err) {
		return nil
	}
	return failed(ctx, "unload", x.upload.request.File, err)
}

func (x *executable) unload(ctx context.Context) (err error) {
	if err := enter(ctx, x.turn); err != nil {
		return err
	}
	defer func() { x.yield(err) }()
	s := x.at
	if s == nil || !x.loaded {
		return nil
	}
	x.loads.Add(1) // an Evaluate that follows a call given up waits for its answer, and loads the program again
	return x.ask(ctx, s, wire.KindUnload, &wire.Unload{Program: x.program}, &wire.Empty{},
		func() { x.changed(s, false) })
}

// make has the broker make the program.
func (x *executable) make(ctx context.Context, s *session, reply *wire.Compiled, settle func()) error {
	if x.base != nil {
		return x.instantiate(ctx, s, reply, settle)
	}
	return x.ask(ctx, s, wire.KindCompile, &x.upload.request, reply, settle, x.upload.descriptors()...)
}

// Close implements ane.Executable. When the broker does not answer, the program
// is freed there as soon as it does. A base stays while it has instances.
func (x *executable) Close() error {
	if !x.family.close() {
		return nil
	}
	return x.finishClose()
}

func (x *executable) finishClose() error {
	if x.closed.Swap(true) {
		return nil
	}
	ctx, cancel := x.engine.patient(context.Background())
	defer cancel()
	err := x.release(ctx)
	if gone(err) {
		err = nil
	}
	err = failed(ctx, "close", x.upload.request.File, err)
	if x.base != nil && x.base.family.remove() {
		err = errors.Join(err, x.base.finishClose())
	}
	return err
}

func (x *executable) release(ctx context.Context) error {
	if err := enter(ctx, x.turn); err != nil {
		return err
	}
	defer x.yield(nil)
	s := x.at
	if s == nil {
		return nil
	}
	x.at = nil
	return s.ask(ctx, wire.KindRelease, &wire.Release{Program: x.program}, &wire.Empty{}, nil)
}
