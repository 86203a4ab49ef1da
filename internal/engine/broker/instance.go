package broker

import (
	"context"
	"errors"
	"io/fs"
	"maps"
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
	u, err := x.adapt(base, weights)
	if err != nil {
		return nil, failed(ctx, "instance", base.file(), err)
	}
	made := &executable{engine: x.engine, upload: u, turn: make(chan struct{}, 1), base: base}
	base.family.add()
	if _, err := made.ready(ctx); err != nil {
		_ = base.family.remove() // x is open, and with it the base
		_ = made.free(ctx)       // the first failure is the one to report
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
