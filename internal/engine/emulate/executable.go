package emulate

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil/lint"
	"github.com/anekit/anekit/internal/engine/wrap"
)

type executable struct {
	ane.Executable
	engine *engine
	file   string
	large  *lint.Finding // that keeps it from loading, or nil

	loaded atomic.Bool // holds one of the host's slots
}

// Load implements ane.Executable.
func (x *executable) Load(ctx context.Context) error {
	if x.large != nil {
		return x.engine.loadError(x.file, x.large.Message, x.large.Fix)
	}
	if slots := x.engine.spec.Slots.Value; !x.loaded.Swap(true) && !x.engine.host.load(slots) {
		x.loaded.Store(false)
		return x.engine.loadError(x.file, fmt.Sprintf("%d programs are loaded, at most %d on %s", slots, slots,
			x.engine.chip.Target()), "unload programs, or merge them as functions")
	}
	err := x.Executable.Load(ctx)
	if err != nil {
		x.release()
	}
	return err
}

// release gives the slot back.
func (x *executable) release() {
	if x.loaded.Swap(false) {
		x.engine.host.unload()
	}
}

// Unload implements ane.Executable.
func (x *executable) Unload(ctx context.Context) error {
	err := x.Executable.Unload(ctx)
	if err == nil {
		x.release()
	}
	return err
}

// Close implements ane.Executable.
func (x *executable) Close() error {
	x.release()
	return x.Executable.Close()
}

// NewInstance implements ane.Instancer if the wrapped engine does.
func (x *executable) NewInstance(ctx context.Context, weights ane.Weights) (ane.Executable, error) {
	own, ok := x.Executable.(ane.Instancer)
	if !ok {
		return nil, &ane.Error{Op: "instance", Engine: x.engine.name, Err: errors.ErrUnsupported,
			Detail: "the engine makes no instances", Hint: "compile the program with these weights"}
	}
	made, err := own.NewInstance(ctx, weights)
	if err != nil {
		return nil, err
	}
	return &executable{Executable: made, engine: x.engine, file: x.file, large: x.large}, nil
}

// Prepare implements ane.Executable.
func (x *executable) Prepare(in, out []*ane.Tensor) (ane.Invocation, error) {
	v, err := x.Executable.Prepare(in, out)
	if err != nil {
		return nil, err
	}
	return &invocation{wrap.Invocation{Invocation: v, Engine: x.engine.name}, x.engine}, nil
}

// invocation fails when a program has spoiled the process.
type invocation struct {
	wrap.Invocation
	engine *engine
}

// Evaluate implements ane.Invocation.
func (v *invocation) Evaluate(ctx context.Context) error {
	if v.engine.host.spoiled.Load() {
		return v.engine.evaluateError("evaluate")
	}
	return v.Invocation.Evaluate(ctx)
}
