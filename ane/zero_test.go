package ane_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/access"
)

// Every method of nil behaves like one of a closed object.
func TestNilIsClosed(t *testing.T) {
	ctx := t.Context()
	for _, d := range []*ane.Device{nil, {}} {
		require.Zero(t, d.Info())
		require.Zero(t, d.Receipt())
		_, err := d.Compile(ctx, anySource)
		require.ErrorIs(t, err, ane.ErrClosed)
		require.NoError(t, d.Close())
		var none context.Context
		_, err = d.Compile(none, anySource)
		require.ErrorIs(t, err, ane.ErrClosed, "a nil context never ends")
	}
	for _, m := range []*ane.Model{nil, {}} {
		require.Empty(t, m.Inputs())
		require.Empty(t, m.Outputs())
		require.Zero(t, m.Receipt())
		require.ErrorIs(t, m.Load(ctx), ane.ErrClosed)
		require.ErrorIs(t, m.Unload(ctx), ane.ErrClosed)
		_, err := m.Bind(nil, nil)
		require.ErrorIs(t, err, ane.ErrClosed)
		_, err = m.Evaluate(ctx, nil)
		require.Error(t, err)
		require.NoError(t, m.Close(ctx))
	}
	for _, r := range []*ane.Request{nil, {}} {
		require.Nil(t, access.View(r, access.Input, "x"))
		require.Nil(t, access.View(r, access.Output, "x"))
		require.NoError(t, r.Close())
	}
	for _, x := range []*ane.Tensor{nil, {}} {
		require.Zero(t, x.Layout().Bytes())
		require.Nil(t, x.Block())
		require.Zero(t, x.Offset())
		require.Nil(t, x.Bytes())
		for _, call := range []func() error{
			func() error { _, err := x.Row(0); return err },
			func() error { _, err := x.At(); return err },
			func() error { return x.Set(1) },
			func() error { _, err := x.Write(nil); return err },
			func() error { _, err := x.Read(nil); return err },
			func() error { _, err := x.WriteFloat32(nil); return err },
			func() error { _, err := x.ReadFloat32([]float32{1}); return err },
			func() error { _, err := ane.Copy(x, x); return err },
		} {
			var e *ane.Error
			require.ErrorAs(t, call(), &e)
		}
	}
	_, err := ane.OnBlock(nil, ane.Layout{DType: mil.FP16})
	require.Error(t, err)
}
