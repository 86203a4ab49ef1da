package ane_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
)

// fake is an engine whose calls are functions of the test.
type fake struct {
	in, out  []ane.Layout
	offsets  bool
	load     func(context.Context) error // nil: succeed
	unload   func(context.Context) error
	prepare  error
	evaluate func(context.Context) error
	refuse   error // of Compile

	minSurface int

	closed  atomic.Bool
	running atomic.Int32 // open executables
	bound   atomic.Int32 // open invocations
}

func (f *fake) Info() ane.Info {
	return ane.Info{Name: "fake", Chip: "none", OSBuild: "any", Numerics: "none", Sharing: "none", Offsets: f.offsets,
		MinSurface: f.minSurface}
}

func (f *fake) Compile(context.Context, ane.Source) (ane.Executable, error) {
	if f.refuse != nil {
		return nil, f.refuse
	}
	f.running.Add(1)
	return fakeExec{f}, nil
}

func (f *fake) Close() error {
	if f.running.Load() != 0 {
		return errors.New("an Executable is open")
	}
	if f.closed.Swap(true) {
		return errors.New("closed twice")
	}
	return nil
}

type fakeExec struct{ f *fake }

func (x fakeExec) Inputs() []ane.Layout  { return x.f.in }
func (x fakeExec) Outputs() []ane.Layout { return x.f.out }
func (x fakeExec) Cached() bool          { return true }
func (x fakeExec) Notes() []string       { return []string{"remark"} }

func call(f func(context.Context) error, ctx context.Context) error {
	if f == nil {
		return nil
	}
	return f(ctx)
}

func (x fakeExec) Load(ctx context.Context) error   { return call(x.f.load, ctx) }
func (x fakeExec) Unload(ctx context.Context) error { return call(x.f.unload, ctx) }

func (x fakeExec) Prepare(in, out []*ane.Tensor) (ane.Invocation, error) {
	if x.f.prepare != nil {
		return nil, x.f.prepare
	}
	x.f.bound.Add(1)
	return fakeRun(x), nil
}

func (x fakeExec) Close() error {
	if x.f.running.Add(-1) < 0 || x.f.bound.Load() != 0 {
		return errors.New("closed twice, or with an Invocation open")
	}
	return nil
}

type fakeRun struct{ f *fake }

func (r fakeRun) Evaluate(ctx context.Context) error { return call(r.f.evaluate, ctx) }
func (r fakeRun) Close() error                       { r.f.bound.Add(-1); return nil }

// adder is a fake with two inputs and an output.
func adder(t testing.TB) *fake {
	l := func(name string) ane.Layout { return newLayout(t, name, mil.FP16, 2, 5) }
	return &fake{in: []ane.Layout{l("zeta"), l("alpha")}, out: []ane.Layout{l("sum")}}
}

// device opens f and closes it at the end of the test.
func device(t testing.TB, f *fake) *ane.Device {
	t.Helper()
	d, err := ane.Open(f, "")
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, d.Close())
		require.Zero(t, f.running.Load())
		require.Zero(t, f.bound.Load())
	})
	return d
}

// model compiles and loads a program on f.
func model(t testing.TB, f *fake) *ane.Model {
	t.Helper()
	m, err := device(t, f).Compile(context.Background(), anySource)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.Close(context.Background())) })
	require.NoError(t, m.Load(context.Background()))
	return m
}

// tensors makes a tensor for each layout.
func tensors(t testing.TB, layouts []ane.Layout) map[string]*ane.Tensor {
	t.Helper()
	m := map[string]*ane.Tensor{}
	for _, l := range layouts {
		m[l.Name] = onBlock(t, l)
	}
	return m
}

// request binds m to new memory.
func request(t testing.TB, m *ane.Model) *ane.Request {
	t.Helper()
	r, err := m.Bind(tensors(t, m.Inputs()), tensors(t, m.Outputs()))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

// anySource is a program for engines that do not look at it.
var anySource = ane.Source{Text: []byte("any")}
