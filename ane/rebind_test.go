package ane_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil/build"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/unimem"
)

// twice is a loaded program y = x + x on the software engine.
func twice(t *testing.T) *ane.Model {
	t.Helper()
	b := build.New()
	f := b.Func("main")
	x := f.Input("x", build.FP16, 1, 1, 1, 4)
	f.Output("y", f.Add(x, x))
	p, err := b.Program()
	require.NoError(t, err)
	d, err := ane.Open(soft.New(), "")
	require.NoError(t, err)
	m, err := d.Compile(t.Context(), ane.Source{Program: p})
	require.NoError(t, err)
	require.NoError(t, m.Load(t.Context()))
	t.Cleanup(func() {
		require.NoError(t, m.Close(context.Background()))
		require.NoError(t, d.Close())
	})
	return m
}

func TestRebindReplacesOneTensor(t *testing.T) {
	m := twice(t)
	r, err := m.NewRequest(t.Context())
	require.NoError(t, err)
	require.NoError(t, r.Input("x").Set(1, 0, 0, 0, 0))
	first, out := r.Input("x"), r.Output("y")
	layout := first.Layout()
	other := onBlock(t, layout)
	require.NoError(t, other.Set(3, 0, 0, 0, 0))
	before := unimem.Live().Blocks
	require.NoError(t, r.Rebind("x", other))
	require.Equal(t, before-1, unimem.Live().Blocks, "the surface of the tensor before is freed")
	require.Nil(t, first.Bytes())
	require.Same(t, other, r.Input("x"))
	require.Same(t, out, r.Output("y"), "all others stay")
	_, err = r.Evaluate(t.Context())
	require.NoError(t, err)
	v, err := out.At(0, 0, 0, 0)
	require.NoError(t, err)
	require.Equal(t, float32(6), v)
	require.ErrorIs(t, other.Block().Close(), unimem.ErrInUse, "the request holds it")

	into := onBlock(t, out.Layout())
	require.NoError(t, r.Rebind("y", into))
	require.NoError(t, r.Rebind("y", into), "the same once more")
	_, err = r.Evaluate(t.Context())
	require.NoError(t, err)
	v, err = into.At(0, 0, 0, 0)
	require.NoError(t, err)
	require.Equal(t, float32(6), v)
	require.NoError(t, r.Close())
}

// After a refusal the request works as before.
func TestRebindRefusals(t *testing.T) {
	m := twice(t)
	r, err := m.NewRequest(t.Context())
	require.NoError(t, err)
	gone := onBlock(t, r.Input("x").Layout())
	require.NoError(t, gone.Block().Close())
	for _, c := range []struct {
		name string
		t    *ane.Tensor
		want error
	}{
		{"z", r.Input("x"), ane.ErrName},
		{"", r.Input("x"), ane.ErrName},
		{"x", nil, ane.ErrUnbound},
		{"x", fp16On(t, 5), ane.ErrMismatch},
		{"x", gone, ane.ErrStale},
		{"x", r.Output("y"), ane.ErrAlias},
		{"y", r.Input("x"), ane.ErrAlias},
		{"x", r.Input("none"), ane.ErrName},
	} {
		require.ErrorIs(t, r.Rebind(c.name, c.t), c.want, "%s %v", c.name, c.t)
	}
	require.NoError(t, r.Input("x").Set(2, 0, 0, 0, 1))
	_, err = r.Evaluate(t.Context())
	require.NoError(t, err)
	v, err := r.Output("y").At(0, 0, 0, 1)
	require.NoError(t, err)
	require.Equal(t, float32(4), v)

	other := onBlock(t, r.Input("x").Layout())
	require.NoError(t, m.Unload(t.Context()))
	require.ErrorIs(t, r.Rebind("x", other), ane.ErrNotLoaded)
	require.NoError(t, m.Load(t.Context()))
	require.NoError(t, r.Close())
	require.ErrorIs(t, r.Rebind("x", other), ane.ErrClosed)
	require.ErrorIs(t, (*ane.Request)(nil).Rebind("x", other), ane.ErrClosed)

	p, err := m.NewPool(t.Context(), 1)
	require.NoError(t, err)
	r, err = p.Get(t.Context())
	require.NoError(t, err)
	require.ErrorIs(t, r.Rebind("x", other), ane.ErrInUse)
	require.NoError(t, p.Put(r))
	require.NoError(t, p.Close())
	require.NoError(t, other.Block().Close(), "no refused call holds it")
}

// An engine that cannot prepare the new run leaves the old one, and a request in flight is not touched.
func TestRebindThatTheEngineRefuses(t *testing.T) {
	boom := errors.New("boom")
	f := adder(t)
	m := model(t, f)
	other := onBlock(t, m.Inputs()[0])
	r := request(t, m)
	f.prepare = boom
	require.ErrorIs(t, r.Rebind("zeta", other), boom)
	require.EqualValues(t, 1, f.bound.Load())
	f.prepare = nil
	f.evaluate = func(context.Context) error {
		require.ErrorIs(t, r.Rebind("zeta", other), ane.ErrBusy)
		return nil
	}
	_, err := r.Evaluate(t.Context())
	require.NoError(t, err)
	require.NoError(t, r.Rebind("zeta", other))
	require.EqualValues(t, 1, f.bound.Load(), "the run before is closed")
}
