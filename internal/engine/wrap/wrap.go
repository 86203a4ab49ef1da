// Package wrap is the common part of engines that wrap another one: it forwards traffic, purge and counters.
package wrap

import (
	"context"
	"errors"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/access"
)

// Engine is the wrapped one, with its access.Metered and ane.Keeper if it has them.
type Engine struct{ ane.Engine }

// Traffic implements access.Metered with the counts of the wrapped engine.
func (e Engine) Traffic() (sent, received int64, ok bool) {
	if m, counts := e.Engine.(access.Metered); counts {
		return m.Traffic()
	}
	return 0, 0, false
}

// Purge implements ane.Keeper if the wrapped engine does.
func (e Engine) Purge(ctx context.Context) (programs int, bytes int64, err error) {
	if k, ok := e.Engine.(ane.Keeper); ok {
		return k.Purge(ctx)
	}
	return 0, 0, e.inProcess("purge")
}

// Counters implements ane.Keeper if the wrapped engine does.
func (e Engine) Counters(ctx context.Context) (map[string]uint64, error) {
	if k, ok := e.Engine.(ane.Keeper); ok {
		return k.Counters(ctx)
	}
	return nil, e.inProcess("counters")
}

func (e Engine) inProcess(op string) error {
	return &ane.Error{Op: op, Engine: e.Info().Name, Err: errors.ErrUnsupported,
		Detail: "the engine is in this process", Hint: "open the broker"}
}

// Invocation is the wrapped one, with its access.Viewer, access.Peer and ane.Prioritizer if it has them.
type Invocation struct {
	ane.Invocation
	Engine string // its name, for errors
}

// InputView implements access.Viewer. It returns nil if the wrapped engine has no views.
func (v Invocation) InputView(i int) []byte {
	if w, ok := v.Invocation.(access.Viewer); ok {
		return w.InputView(i)
	}
	return nil
}

// OutputView implements access.Viewer like InputView.
func (v Invocation) OutputView(i int) []byte {
	if w, ok := v.Invocation.(access.Viewer); ok {
		return w.OutputView(i)
	}
	return nil
}

// Peer implements access.Peer. The process is 0 if the wrapped engine is in this one.
func (v Invocation) Peer() (pid int, inputs, outputs []uintptr) {
	if w, ok := v.Invocation.(access.Peer); ok {
		return w.Peer()
	}
	return 0, nil, nil
}

// SetQoS implements ane.Prioritizer if the wrapped engine does.
func (v Invocation) SetQoS(q ane.QoS) error {
	if p, ok := v.Invocation.(ane.Prioritizer); ok {
		return p.SetQoS(q)
	}
	return &ane.Error{Op: "qos", Engine: v.Engine, Err: errors.ErrUnsupported, Detail: "the engine has no priorities",
		Hint: "do not call SetQoS on this engine"}
}

// Hide returns an engine that works like e and shows no view of its memory, as Apple's. It owns e. Tests use it.
func Hide(e ane.Engine) ane.Engine { return hiding{Engine{e}} }

type hiding struct{ Engine }

// Compile implements ane.Engine.
func (h hiding) Compile(ctx context.Context, src ane.Source) (ane.Executable, error) {
	x, err := h.Engine.Compile(ctx, src)
	if err != nil {
		return nil, err
	}
	return hidingExecutable{x}, nil
}

type hidingExecutable struct{ ane.Executable }

// Prepare implements ane.Executable.
func (x hidingExecutable) Prepare(in, out []*ane.Tensor) (ane.Invocation, error) {
	v, err := x.Executable.Prepare(in, out)
	if err != nil {
		return nil, err
	}
	return struct{ ane.Invocation }{v}, nil
}

// Roomy returns an engine that works like e and wants surfaces of at least 48 KiB, and of one size on each side of a
// request, as Apple's. It owns e. Tests use it.
func Roomy(e ane.Engine) ane.Engine { return roomy{Engine{e}} }

type roomy struct{ Engine }

// Info implements ane.Engine.
func (r roomy) Info() ane.Info {
	i := r.Engine.Info()
	i.MinSurface = 48 << 10
	return i
}
