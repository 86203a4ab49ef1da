package broker

import (
	"context"
	"errors"
	"io/fs"
	"maps"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire"
)

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
