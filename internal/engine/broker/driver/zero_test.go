package driver

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/driverabi"
	"github.com/anekit/anekit/unimem"
)

func TestZeroValuesAreClosed(t *testing.T) {
	b, err := unimem.Open(1)
	require.NoError(t, err)
	defer b.Close()
	for _, d := range []*Driver{nil, {}} {
		_, err := d.Attach(privileged)
		require.ErrorIs(t, err, ane.ErrClosed)
		_, err = d.AddProgram(&exec{})
		require.ErrorIs(t, err, ane.ErrClosed)
		_, err = d.AddWeights(files{})
		require.ErrorIs(t, err, ane.ErrClosed)
		_, err = d.AddSurface(b)
		require.ErrorIs(t, err, ane.ErrClosed)
		require.ErrorIs(t, d.RemoveProgram(1), ane.ErrClosed)
		require.ErrorIs(t, d.RemoveSurface(1), ane.ErrClosed)
		require.Zero(t, d.Stats())
		require.NoError(t, d.Close(context.Background()))
	}
	for _, c := range []*Client{nil, {}} {
		require.Equal(t, driverabi.NotOpen, c.Control(1, &driverabi.Args{}))
		require.Equal(t, driverabi.NotOpen, c.Direct(1, &driverabi.Args{}))
		require.False(t, c.Cancel(0))
		require.NoError(t, c.Explain())
		require.NoError(t, c.Close(context.Background()))
	}
}

func TestDoorbells(t *testing.T) {
	r := newRig(t, Options{})
	begun, let := r.hold()
	info, done := woken()
	c := r.opened(info)
	x := ask{token: r.prepared(c, r.program()), port: 1, surfaces: r.pair(c)}
	bell := func() uint32 {
		a := fitting(driverabi.ControlMethods()[7])
		require.Equal(t, ok, c.Control(7, a))
		return Parse[Status](a.StructOut).Bell
	}
	_, ret := x.send(c)
	require.Equal(t, ok, ret)
	within(t, begun)
	require.Zero(t, bell(), "taken")
	for n, index := range []uint64{3, 31} {
		x.sequence, x.doorbell = uint32(n+1), index
		_, ret := x.send(c)
		require.Equal(t, ok, ret)
	}
	require.Equal(t, uint32(1<<3|1<<31), bell())
	require.True(t, c.Cancel(1))
	require.Equal(t, uint32(1<<3|1<<31), bell(), "one still waits")
	require.True(t, c.Cancel(2))
	require.Zero(t, bell(), "none does")
	let()
	for range 3 {
		within(t, done)
	}
	require.Zero(t, bell())
}

func TestCloseGivesUpOnTheEngine(t *testing.T) {
	r := newRig(t, Options{})
	gate, begun := make(chan bool), make(chan bool)
	r.engine.evaluate = func(context.Context, []*ane.Tensor) error {
		begun <- true
		<-gate
		return nil
	}
	r.driver.patience = 1
	c := r.opened(privileged)
	x := ask{token: r.prepared(c, r.program()), surfaces: r.pair(c)}
	got := make(chan driverabi.Return, 1)
	go func() {
		_, ret := x.send(c)
		got <- ret
	}()
	within(t, begun)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(t, r.driver.Close(ctx), ane.ErrStuck)
	close(gate)
	require.Equal(t, ok, within(t, got))
	r.driver.patience = patience
	require.NoError(t, r.driver.Close(ctx))
}

func TestNoIdentityIsNobodysIdentity(t *testing.T) {
	r := newRig(t, Options{})
	info := privileged
	info.Identity = ""
	one, two := r.opened(info), r.opened(info)
	res := r.program()
	require.Equal(t, ok, create1(one, res))
	require.Equal(t, driverabi.NotPermitted, create1(two, res))
	require.Equal(t, bad, create1(one, res))
}
