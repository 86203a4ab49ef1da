package broker

import (
	"context"
	"errors"
	"io/fs"
	"sync"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// family counts the instances of a base, which the broker needs to make them again.
type family struct {
	mu        sync.Mutex
	instances int
	closed    bool // the base was closed, but for its instances
}

// close notes that the base was closed, and reports whether it can go at once.
func (f *family) close() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	return f.instances == 0
}

func (f *family) add() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.instances++
}

// remove counts one instance less, and reports whether that was all that kept the base.
func (f *family) remove() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.instances--
	return f.instances == 0 && f.closed
}

// NewInstance implements ane.Instancer. The broker links the weights to the program that it
// has, and does so again after it was replaced.
func (x *executable) NewInstance(ctx context.Context, weights ane.Weights) (ane.Executable, error) {
	base := x
	if x.base != nil {
		base = x.base
	}
	file := base.upload.request.File
	u, err := x.adapt(base, weights)
	if err != nil {
		return nil, failed(ctx, "instance", file, err)
	}
	made := &executable{engine: x.engine, upload: u, turn: make(chan struct{}, 1), base: base}
	base.family.add()
	if err := made.ready(ctx); err != nil {
		_ = base.family.remove() // x is open, and with it the base
		made.closed.Store(true)
		made.tidy()
		return nil, failed(ctx, "instance", file, err)
	}
	return made, nil
}

// adapt takes a copy of weights, and of those of an instance that stay.
func (x *executable) adapt(base *executable, weights ane.Weights) (*upload, error) {
	u := &upload{request: wire.Compile{File: base.upload.request.File}, shelf: base.upload.shelf}
	var paths []string
	for _, w := range base.upload.request.Weights {
		paths = append(paths, w.Name)
	}
	unread := map[string]error{}
	err := u.pack(paths, func(path string) ([][]byte, error) {
		data, err := weights.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) && x.base != nil {
			data, err = x.upload.read(path)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			unread[path] = err
		}
		return [][]byte{data}, err
	})
	if err != nil {
		return nil, errors.Join(err, u.close())
	}
	if len(unread) > 0 {
		_ = u.close() // nothing was written
		return nil, &ane.Error{Op: "instance", Engine: Name, Name: u.request.File,
			Err: ane.Because(ane.ErrCompile, base.upload.faults(unread))}
	}
	return u, nil
}

// read returns a copy of a weight file that was sent before.
func (u *upload) read(path string) ([]byte, error) {
	for _, w := range u.request.Weights {
		if w.Name == path {
			data := make([]byte, w.Size)
			_, err := u.files[w.Descriptor].ReadAt(data, int64(w.Offset))
			return data, err
		}
	}
	return nil, fs.ErrNotExist
}

// instantiate asks for the instance where the base is loaded.
func (x *executable) instantiate(ctx context.Context, s *session, reply *wire.Compiled, settle func()) error {
	return x.base.lend(ctx, s, func(program uint32) error {
		request := wire.Instance{Program: program, Weights: x.upload.request.Weights}
		return x.ask(ctx, s, wire.KindInstance, &request, reply, settle, x.upload.descriptors()...)
	})
}

// lend has the base loaded at s while use runs. A base that its Model does not want loaded
// is unloaded again.
func (x *executable) lend(ctx context.Context, s *session, use func(program uint32) error) error {
	if err := enter(ctx, x.turn); err != nil {
		return err
	}
	var err error // of a request about the base
	defer func() { x.yield(err) }()
	if x.at != s {
		err = x.compile(ctx, s)
	}
	if err == nil && !x.loaded {
		request := wire.Load{Program: x.program, QoS: uint32(ane.QoSDefault)}
		err = x.ask(ctx, s, wire.KindLoad, &request, &wire.Loaded{}, func() { x.changed(s, true) })
	}
	if err != nil {
		return settled(err)
	}
	if used := use(x.program); used != nil || x.wanted.Load() {
		return used
	}
	err = x.ask(ctx, s, wire.KindUnload, &wire.Unload{Program: x.program}, &wire.Empty{},
		func() { x.changed(s, false) })
	return nil // loaded or not, the instance is made
}
