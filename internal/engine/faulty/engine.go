package faulty

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/anekit/anekit/ane"
)

// Wrap returns an engine that works like e except for f. It owns e.
func Wrap(e ane.Engine, f Fault) ane.Engine { return &engine{Engine: e, fault: f} }

type engine struct {
	ane.Engine
	fault Fault

	mu   sync.Mutex
	late []func() error // functions to run when the engine closes
}

// postpone defers f until the engine closes.
func (e *engine) postpone(f func() error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.late = append(e.late, f)
}

// Info implements ane.Engine.
func (e *engine) Info() ane.Info {
	if e.fault.info == nil {
		return e.Engine.Info()
	}
	return e.fault.info(e.Engine.Info())
}

// Compile implements ane.Engine.
func (e *engine) Compile(ctx context.Context, src ane.Source) (ane.Executable, error) {
	x, err := e.Engine.Compile(ctx, src)
	if err != nil {
		return nil, e.reported(err)
	}
	return &executable{Executable: x, engine: e}, nil
}

// Traffic implements ane.Metered with the counts of the wrapped engine.
func (e *engine) Traffic() (sent, received int64, ok bool) {
	if m, counts := e.Engine.(ane.Metered); counts {
		return m.Traffic()
	}
	return 0, 0, false
}

// Purge implements ane.Keeper if the wrapped engine does.
func (e *engine) Purge(ctx context.Context) (programs int, bytes int64, err error) {
	if k, ok := e.Engine.(ane.Keeper); ok {
		return k.Purge(ctx)
	}
	return 0, 0, &ane.Error{Op: "purge", Engine: e.Info().Name, Err: errors.ErrUnsupported}
}

// Counters implements ane.Keeper if the wrapped engine does.
func (e *engine) Counters(ctx context.Context) (map[string]uint64, error) {
	if k, ok := e.Engine.(ane.Keeper); ok {
		return k.Counters(ctx)
	}
	return nil, &ane.Error{Op: "counters", Engine: e.Info().Name, Err: errors.ErrUnsupported}
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
	var errs []error
	for _, f := range slices.Backward(e.late) {
		errs = append(errs, f())
	}
	e.late = nil
	return errors.Join(append(errs, e.Engine.Close())...)
}
