package faulty

import (
	"context"
	"errors"
	"sync"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/wrap"
	"github.com/anekit/anekit/internal/step"
)

// Wrap returns an engine that works like e except for f. It owns e.
func Wrap(e ane.Engine, f Fault) ane.Engine { return &engine{Engine: wrap.Engine{Engine: e}, fault: f} }

type engine struct {
	wrap.Engine
	fault Fault

	mu   sync.Mutex
	late step.T // closes when the engine closes
}

// postpone defers f until the engine closes.
func (e *engine) postpone(f func() error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.late.Closing(f)
}

// Info implements ane.Engine.
func (e *engine) Info() ane.Info {
	i := e.Engine.Info()
	if e.fault.info != nil {
		e.fault.info(&i)
	}
	return i
}

// Compile implements ane.Engine.
func (e *engine) Compile(ctx context.Context, src ane.Source) (ane.Executable, error) {
	x, err := e.Engine.Compile(ctx, src)
	if err != nil {
		return nil, e.reported(err)
	}
	return &executable{Executable: x, engine: e}, nil
}

// reported returns err as the caller gets it.
func (e *engine) reported(err error) error {
	if err == nil || e.fault.errs == nil {
		return err
	}
	return e.fault.errs(err)
}

// Close implements ane.Engine.
func (e *engine) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return errors.Join(e.late.Close(context.Background()), e.Engine.Close())
}
