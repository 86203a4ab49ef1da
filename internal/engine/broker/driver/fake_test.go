package driver

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
)

// engine is a fake that does what a test asks for and checks the rules of ane.Engine.
type engine struct {
	ane.Engine // nil: the driver may call nothing of it
	evaluate   func(ctx context.Context, surfaces []*ane.Tensor) error
	load       func(context.Context) error
	unload     func() error
	prepare    func() error
	in, out    int // inputs and outputs of its programs

	running atomic.Int32 // evaluations at this moment
	bound   atomic.Int32 // open invocations
	loaded  atomic.Int32
	open    atomic.Int32 // executables
	faults  sync.Map     // broken rules
}

func (e *engine) broken(rule string) { e.faults.Store(rule, true) }

// check fails the test for everything left open and every broken rule.
func (e *engine) check(t testing.TB) {
	t.Helper()
	require.Zero(t, e.bound.Load(), "invocations left open")
	require.Zero(t, e.loaded.Load(), "programs left loaded")
	e.faults.Range(func(rule, _ any) bool {
		t.Errorf("rule broken: %v", rule)
		return true
	})
}

func (e *engine) compile() *exec {
	e.open.Add(1)
	return &exec{engine: e}
}

type exec struct {
	engine *engine
	busy   atomic.Int32 // Load, Unload, Prepare, Close
	loaded atomic.Bool
	files  ane.Weights
}

func ports(n int, name string) []ane.Layout {
	list := make([]ane.Layout, n)
	for i := range list {
		l, err := ane.NewLayout(name+string(rune('a'+i)), mil.FP16, 1, 32)
		if err != nil {
			panic(err)
		}
		list[i] = l
	}
	return list
}

func (x *exec) Inputs() []ane.Layout  { return ports(x.engine.in, "in") }
func (x *exec) Outputs() []ane.Layout { return ports(x.engine.out, "out") }
func (x *exec) Cached() bool          { return false }
func (x *exec) Notes() []string       { return nil }

// alone notes calls that ane.Executable forbids at the same time.
func (x *exec) alone() func() {
	if x.busy.Add(1) != 1 {
		x.engine.broken("Load, Unload, Prepare and Close one at a time")
	}
	return func() { x.busy.Add(-1) }
}

func (x *exec) Load(ctx context.Context) error {
	defer x.alone()()
	if x.engine.load != nil {
		if err := x.engine.load(ctx); err != nil {
			return err
		}
	}
	if x.loaded.Swap(true) {
		x.engine.broken("loaded twice")
	}
	x.engine.loaded.Add(1)
	return nil
}

func (x *exec) Unload(context.Context) error {
	defer x.alone()()
	if !x.loaded.Swap(false) {
		x.engine.broken("unloaded though not loaded")
	}
	x.engine.loaded.Add(-1)
	if x.engine.unload != nil {
		return x.engine.unload()
	}
	return nil
}

func (x *exec) Prepare(in, out []*ane.Tensor) (ane.Invocation, error) {
	defer x.alone()()
	if x.engine.prepare != nil {
		if err := x.engine.prepare(); err != nil {
			return nil, err
		}
	}
	x.engine.bound.Add(1)
	return &invocation{exec: x, tensors: append(append([]*ane.Tensor{}, in...), out...)}, nil
}

func (x *exec) Close() error {
	defer x.alone()()
	x.engine.open.Add(-1)
	if x.loaded.Load() {
		return errors.New("closed while loaded")
	}
	return nil
}

type invocation struct {
	exec    *exec
	tensors []*ane.Tensor
	closed  atomic.Bool
}

func (v *invocation) Evaluate(ctx context.Context) error {
	e := v.exec.engine
	if e.running.Add(1) != 1 {
		e.broken("one run at a time")
	}
	defer e.running.Add(-1)
	if v.closed.Load() || !v.exec.loaded.Load() {
		e.broken("evaluated while closed or not loaded")
	}
	if e.evaluate != nil {
		return e.evaluate(ctx, v.tensors)
	}
	return nil
}

func (v *invocation) Close() error {
	if v.closed.Swap(true) {
		v.exec.engine.broken("invocation closed twice")
	}
	v.exec.engine.bound.Add(-1)
	return nil
}

// adapter is an exec that can make instances.
type adapter struct{ *exec }

func (x adapter) NewInstance(_ context.Context, w ane.Weights) (ane.Executable, error) {
	if w == nil {
		return nil, errors.New("no weights")
	}
	n := x.engine.compile()
	n.files = w
	return n, nil
}
