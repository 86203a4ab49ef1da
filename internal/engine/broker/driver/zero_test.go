package driver

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

func TestDoorbells(t *testing.T) {
	r := newRig(t)
	begun, let := r.hold()
	info, done := woken()
	c := r.opened(info)
	x := ask{token: r.prepared(c, r.program()), port: 1, surfaces: r.pair(c)}
	bell := func() uint32 {
		a := fitting(driverabi.ControlMethods()[7])
		require.NoError(t, c.Control(7, a))
		return Parse[Status](a.StructOut).Bell
	}
	_, ret := x.send(c)
	require.NoError(t, ret)
	within(t, begun)
	require.Zero(t, bell(), "taken")
	for n, index := range []uint64{3, 31} {
		x.sequence, x.doorbell = uint32(n+1), index
		_, ret := x.send(c)
		require.NoError(t, ret)
	}
	require.Equal(t, uint32(1<<3|1<<31), bell())
	require.NotEqual(t, NotFound, c.Stop(1))
	require.Equal(t, uint32(1<<3|1<<31), bell(), "one still waits")
	require.NotEqual(t, NotFound, c.Stop(2))
	require.Zero(t, bell(), "none does")
	let()
	for range 3 {
		within(t, done)
	}
	require.Zero(t, bell())
}

func TestCloseGivesUpOnTheEngine(t *testing.T) {
	r := newRig(t)
	gate, begun := make(chan bool), make(chan bool)
	r.engine.evaluate = func(context.Context, []*ane.Tensor) error {
		begun <- true
		<-gate
		return nil
	}
	r.driver.patience = 1
	c := r.opened(privileged)
	x := ask{token: r.prepared(c, r.program()), surfaces: r.pair(c)}
	got := make(chan error, 1)
	go func() {
		_, ret := x.send(c)
		got <- ret
	}()
	within(t, begun)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(t, r.driver.Close(ctx), ane.ErrStuck)
	close(gate)
	require.NoError(t, within(t, got))
	r.driver.patience = patience
	require.NoError(t, r.driver.Close(ctx))
}

func TestNoIdentityIsNobodysIdentity(t *testing.T) {
	r := newRig(t)
	info := privileged
	info.Identity = ""
	one, two := r.opened(info), r.opened(info)
	res := r.program()
	require.NoError(t, create1(one, res))
	require.ErrorIs(t, create1(two, res), driverabi.NotPermitted)
	require.ErrorIs(t, create1(one, res), bad)
}
