package faulty

import (
	"context"
	"errors"
	"slices"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/wrap"
)

type executable struct {
	ane.Executable
	engine *engine
	kept   bool             // loaded by a fault that never unloads
	first  [2][]*ane.Tensor // the tensors bound first, for oneRequest
}

// NewInstance implements ane.Instancer if the wrapped engine does.
func (x *executable) NewInstance(ctx context.Context, weights ane.Weights) (ane.Executable, error) {
	own, ok := x.Executable.(ane.Instancer)
	if !ok {
		return nil, &ane.Error{Op: "instance", Engine: x.engine.Info().Name, Err: errors.ErrUnsupported}
	}
	if x.engine.fault.based {
		weights = dropped{weights}
	}
	made, err := own.NewInstance(ctx, weights)
	if err != nil {
		return nil, x.engine.reported(err)
	}
	return &executable{Executable: made, engine: x.engine}, nil
}

// dropped are weights that are read and then not used.
type dropped struct{ weights ane.Weights }

// ReadFile implements ane.Weights.
func (d dropped) ReadFile(path string) ([]byte, error) {
	if _, err := d.weights.ReadFile(path); err != nil {
		return nil, err
	}
	return ane.Files{}.ReadFile(path)
}

// Inputs implements ane.Executable.
func (x *executable) Inputs() []ane.Layout { return x.layouts(x.Executable.Inputs()) }

// Outputs implements ane.Executable.
func (x *executable) Outputs() []ane.Layout { return x.layouts(x.Executable.Outputs()) }

func (x *executable) layouts(l []ane.Layout) []ane.Layout {
	l = slices.Clone(l)
	for i := range l {
		if f := x.engine.fault.layout; f != nil {
			f(&l[i])
		}
	}
	return l
}

// Load implements ane.Executable.
func (x *executable) Load(ctx context.Context) error {
	if x.kept {
		return nil
	}
	err := x.Executable.Load(ctx)
	x.kept = err == nil && x.engine.fault.keep
	return err
}

// Unload implements ane.Executable.
func (x *executable) Unload(ctx context.Context) error {
	if x.kept {
		return nil
	}
	return x.Executable.Unload(ctx)
}

// Close implements ane.Executable.
func (x *executable) Close() error {
	if !x.kept {
		return x.Executable.Close()
	}
	x.engine.postpone(x.Executable.Close)
	x.engine.postpone(func() error { return x.Executable.Unload(context.Background()) })
	return nil
}

// Prepare implements ane.Executable.
func (x *executable) Prepare(in, out []*ane.Tensor) (ane.Invocation, error) {
	f := x.engine.fault
	if f.prepare == nil {
		f.prepare = honest
	}
	v, err := f.prepare(x, in, out)
	if err != nil {
		return nil, err // no typed nil
	}
	return v, nil
}

// honest prepares without a fault.
func honest(x *executable, in, out []*ane.Tensor) (*invocation, error) {
	inner, err := x.Executable.Prepare(in, out)
	if err != nil {
		return nil, err
	}
	v := wrap.Invocation{Invocation: inner, Engine: x.engine.Info().Name}
	return &invocation{Invocation: v, engine: x.engine, in: in, out: out, run: x.engine.fault.run}, nil
}
