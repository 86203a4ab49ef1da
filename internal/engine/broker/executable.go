package broker

import (
	"context"
	"errors"
	"io/fs"
	"maps"
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
	at      *link // where it is compiled
	program uint32
	loaded  bool         // there
	wanted  atomic.Bool  // by the Model
	loads   atomic.Int64 // changes with at and loaded, so that invocations notice
	closed  atomic.Bool
	freeing sync.WaitGroup // requests whose binding was given up

	base  *executable  // of which this is an instance, nil for a compiled program
	users atomic.Int32 // itself until Close, and its instances, which the broker makes again from it
}

// placement is where a program is, for requests that are bound to it.
type placement struct {
	link    *link
	program uint32
	loads   int64
}

// Compile implements ane.Engine.
func (e *engine) Compile(ctx context.Context, src ane.Source) (ane.Executable, error) {
	if err := ctx.Err(); err != nil {
		return nil, ane.Deadline("compile", Name, joinCause(ctx))
	}
	u, err := newUpload(src, e.shelf)
	if err != nil {
		return nil, failed(ctx, "compile", src.File, err)
	}
	x := newExecutable(e, u)
	if _, err := x.ready(ctx); err != nil {
		err = u.explain(err)
		_ = x.leave(ctx) // the first failure is the one to report
		return nil, failed(ctx, "compile", src.File, err)
	}
	return x, nil
}

func newExecutable(e *engine, u *upload) *executable {
	x := &executable{engine: e, upload: u, turn: make(chan struct{}, 1)}
	x.users.Add(1)
	return x
}

// Inputs implements ane.Executable.
func (x *executable) Inputs() []ane.Layout { return x.in }

// Outputs implements ane.Executable.
func (x *executable) Outputs() []ane.Layout { return x.out }

// Cached implements ane.Executable.
func (x *executable) Cached() bool { return x.cached }

// Notes implements ane.Executable.
func (x *executable) Notes() []string { return x.notes }

// file is the program's name, for errors.
func (x *executable) file() string { return x.upload.request.File }

// ready compiles the program at the present broker if that has not been done, and
// loads it there if it is wanted.
func (x *executable) ready(ctx context.Context) (placement, error) {
	return inTurn(ctx, x.turn, func() (placement, error) {
		if x.closed.Load() {
			return placement{}, &ane.Error{Op: "load", Engine: Name, Name: x.file(), Err: ane.ErrClosed}
		}
		err := retry(func() error {
			l, err := x.engine.link(ctx)
			if err == nil {
				err = x.settle(ctx, l, x.wanted.Load())
			}
			return err
		})
		return placement{x.at, x.program, x.loads.Load()}, err
	})
}

// settle has the program compiled at a broker, and loaded if that is wanted, in turn.
func (x *executable) settle(ctx context.Context, l *link, loaded bool) error {
	if x.at != l {
		if err := x.compile(ctx, l); err != nil {
			return err
		}
	}
	if x.loaded || !loaded {
		return nil
	}
	if ctx.Err() != nil { // during the compile
		return context.Cause(ctx)
	}
	err := l.ask(wire.KindLoad, &wire.Load{Program: x.program, QoS: uint32(ane.QoSDefault)}, &wire.Loaded{})
	if err == nil {
		x.changed(l, true)
	}
	return err
}

// changed notes where the program is and whether it is loaded there.
func (x *executable) changed(at *link, loaded bool) {
	x.at, x.loaded = at, loaded
	x.loads.Add(1)
}

// compile sends the program, or makes the instance.
func (x *executable) compile(ctx context.Context, l *link) error {
	var reply wire.Compiled
	var err error
	if x.base == nil {
		err = l.ask(wire.KindCompile, &x.upload.request, &reply, x.upload.descriptors()...)
	} else {
		err = x.instantiate(ctx, l, &reply)
	}
	if err != nil {
		return err
	}
	same := func(a, b ane.Layout) bool { return a.Name == b.Name && a.Equal(b) }
	switch {
	case x.out == nil:
		x.in, x.out, x.notes, x.cached = reply.In, reply.Out, reply.Notes, reply.Cached
	case !slices.EqualFunc(x.in, reply.In, same) || !slices.EqualFunc(x.out, reply.Out, same):
		err := l.ask(wire.KindRelease, &wire.Release{Program: reply.Program}, &wire.Empty{})
		x.changed(nil, false)
		return errors.Join(&ane.Error{Op: "compile", Engine: Name, Name: x.file(), Err: ane.ErrMismatch,
			Detail: "the next broker lays the program out in another way", Hint: "compile it again"}, undone(err))
	}
	x.program = reply.Program
	x.changed(l, false)
	return nil
}

// Load implements ane.Executable.
func (x *executable) Load(ctx context.Context) error {
	x.wanted.Store(true)
	_, err := x.ready(ctx)
	x.wanted.Store(err == nil)
	return failed(ctx, "load", x.file(), err)
}

// Unload implements ane.Executable. A program whose broker has gone is unloaded.
func (x *executable) Unload(ctx context.Context) error {
	err := enter(ctx, x.turn)
	if err == nil {
		x.loads.Add(1) // an Evaluate that follows a call given up waits for its answer, and loads the program again
		_, err = outlast(ctx, func() (none, error) {
			defer func() { <-x.turn }()
			return none{}, x.unload()
		}, nil)
	}
	x.wanted.Store(err != nil)
	return failed(ctx, "unload", x.file(), err)
}

// unload unloads the program where it is, in turn.
func (x *executable) unload() error {
	if x.at == nil || !x.loaded {
		return nil
	}
	err := undone(x.at.ask(wire.KindUnload, &wire.Unload{Program: x.program}, &wire.Empty{}))
	if err == nil {
		x.changed(x.at, false)
	}
	return err
}

// Close implements ane.Executable. When the broker does not answer, the program
// is freed there as soon as it does. A base stays while it has instances.
func (x *executable) Close() error {
	if x.closed.Swap(true) {
		return nil
	}
	ctx, cancel := x.engine.patient()
	defer cancel()
	return failed(ctx, "close", x.file(), x.leave(ctx))
}

// leave counts one user less. The program without any is freed when no request about it is in flight.
func (x *executable) leave(ctx context.Context) error {
	if x.users.Add(-1) > 0 {
		return nil
	}
	_, err := outlast(ctx, func() (_ none, err error) {
		x.freeing.Wait()
		x.turn <- struct{}{}
		defer func() { <-x.turn }()
		if x.at != nil {
			err = x.at.ask(wire.KindRelease, &wire.Release{Program: x.program}, &wire.Empty{})
			x.at = nil
		}
		return none{}, errors.Join(undone(err), x.upload.close())
	}, nil)
	if x.base != nil {
		err = errors.Join(err, x.base.leave(ctx))
	}
	return err
}

// NewInstance implements ane.Instancer. The broker links the weights to the program that it
// has, and does so again after it was replaced.
func (x *executable) NewInstance(ctx context.Context, weights ane.Weights) (ane.Executable, error) {
	base := x
	if x.base != nil {
		base = x.base
	}
	u, err := x.adapt(base, weights)
	if err != nil {
		return nil, failed(ctx, "instance", base.file(), err)
	}
	made := newExecutable(x.engine, u)
	made.base = base
	base.users.Add(1)
	if _, err := made.ready(ctx); err != nil {
		_ = made.leave(ctx) // the first failure is the one to report
		return nil, failed(ctx, "instance", base.file(), err)
	}
	return made, nil
}

// adapt takes a copy of weights, and of those of an instance that stay.
func (x *executable) adapt(base *executable, weights ane.Weights) (*upload, error) {
	u := &upload{request: wire.Compile{File: base.file()}, shelf: base.upload.shelf}
	var paths []string
	for _, w := range base.upload.request.Weights {
		paths = append(paths, w.Name)
	}
	err := u.pack(paths, func(path string) ([][]byte, error) {
		data, err := weights.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) && x.base != nil {
			data, err = x.upload.read(path)
		}
		return [][]byte{data}, err
	})
	if err != nil {
		return nil, errors.Join(err, u.close())
	}
	maps.DeleteFunc(u.missing, func(_ string, err error) bool { return errors.Is(err, fs.ErrNotExist) })
	if len(u.missing) > 0 {
		_ = u.close() // nothing was written
		return nil, &ane.Error{Op: "instance", Engine: Name, Name: u.request.File,
			Err: ane.Because(ane.ErrCompile, base.upload.faults(u.missing))}
	}
	return u, nil
}

// instantiate asks for the instance where the base is loaded. A base that its Model does not want loaded is unloaded
// again.
func (x *executable) instantiate(ctx context.Context, l *link, reply *wire.Compiled) error {
	base := x.base
	if err := enter(ctx, base.turn); err != nil {
		return err
	}
	defer func() { <-base.turn }()
	if err := base.settle(ctx, l, true); err != nil {
		return err
	}
	request := wire.Instance{Program: base.program, Weights: x.upload.request.Weights}
	err := l.ask(wire.KindInstance, &request, reply, x.upload.descriptors()...)
	if err == nil && !base.wanted.Load() {
		_ = base.unload() // loaded or not, the instance is made
	}
	return err
}
