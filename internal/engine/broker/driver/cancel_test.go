package driver

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

func TestCancel(t *testing.T) {
	r := newRig(t)
	begun, let := r.hold()
	info, done := woken()
	c := r.opened(info)
	x := ask{token: r.prepared(c, r.program()), port: 1, surfaces: r.pair(c)}
	for range 3 {
		_, ret := x.send(c)
		require.NoError(t, ret)
		x.sequence++
	}
	within(t, begun)
	require.Equal(t, NotFound, c.Stop(3), "no such request")
	require.Equal(t, NotFound, c.Stop(3))
	require.Equal(t, WasWaiting, c.Stop(1))
	require.Len(t, done, 1, "it has ended by now")
	d := within(t, done)
	require.Equal(t, []any{uint32(1), driverabi.Aborted}, []any{d.Sequence, Code(d.Err)}, "a queued one ends at once")
	require.ErrorIs(t, d.Err, context.Canceled)
	require.Equal(t, NotFound, c.Stop(1), "it has ended")
	require.Equal(t, WasRunning, c.Stop(0))
	d = within(t, done)
	require.Equal(t, []any{uint32(0), driverabi.Aborted}, []any{d.Sequence, Code(d.Err)}, "a running one")
	within(t, begun)
	let()
	d = within(t, done)
	require.Equal(t, []any{uint32(2), ok}, []any{d.Sequence, Code(d.Err)}, "the queue goes on")
	_, ret := x.send(c)
	require.NoError(t, ret, "and so does the slot")
	require.NoError(t, within(t, done).Err)
}

// TestCancelFromWake: a completion may cancel and send.
func TestCancelFromWake(t *testing.T) {
	r := newRig(t)
	begun, let := r.hold()
	info := privileged
	ended := make(chan error, 4)
	var c *Client
	var x ask
	info.Wake = func(d Completion) {
		if d.Sequence == 0 {
			c.Stop(1)
			y := x
			y.sequence = 2
			_, ret := y.send(c)
			ended <- ret
		}
		ended <- d.Err
	}
	c = r.opened(info)
	x = ask{token: r.prepared(c, r.program()), port: 1, surfaces: r.pair(c)}
	for n := range uint32(2) {
		x.sequence = n
		_, ret := x.send(c)
		require.NoError(t, ret)
	}
	within(t, begun)
	let()
	got := []driverabi.Return{}
	for range 4 {
		got = append(got, Code(within(t, ended)))
	}
	require.ElementsMatch(t, []driverabi.Return{ok, ok, ok, driverabi.Aborted}, got)
}

func TestClientGoes(t *testing.T) {
	r := newRig(t)
	begun, let := r.hold()
	info, done := woken()
	c, other := r.opened(info), r.opened(privileged)
	x := ask{token: r.prepared(c, r.program()), port: 1, surfaces: r.pair(c)}
	for range 10 {
		_, ret := x.send(c)
		require.NoError(t, ret)
		x.sequence++
	}
	within(t, begun)
	waits := make(chan error)
	y := ask{token: r.prepared(other, r.program()), surfaces: r.pair(other)}
	go func() {
		_, ret := y.send(other)
		waits <- ret
	}()
	soon(t, func() bool { return r.driver.Stats().Queued == 10 }, "the other client waits")
	require.NoError(t, c.Close(context.Background()))
	require.Len(t, done, 10, "every completion came before Close returned")
	for range 10 {
		require.ErrorIs(t, within(t, done).Err, driverabi.Aborted)
	}
	within(t, begun)
	let()
	require.NoError(t, within(t, waits))
	require.Equal(t, 1, r.driver.Stats().Clients)
}

func TestConnectionCloses(t *testing.T) {
	r := newRig(t)
	begun, _ := r.hold()
	info, done := woken()
	c := r.opened(info)
	res := r.program()
	x := ask{token: r.prepared(c, res), port: 1, surfaces: r.pair(c)}
	_, ret := x.send(c)
	require.NoError(t, ret)
	within(t, begun)
	require.NoError(t, c.Control(1, &driverabi.Args{}))
	require.ErrorIs(t, within(t, done).Err, driverabi.Aborted)
	require.Zero(t, r.driver.Stats().Resident)
	require.Equal(t, 2, r.driver.Stats().Mapped, "the direct connection's")
	require.ErrorIs(t, c.Direct(2, x.args()), bad, "the token went with its connection")
	require.NoError(t, c.Direct(1, &driverabi.Args{}))
	require.Zero(t, r.driver.Stats().Mapped)
	_, ret = handshake(c.Control, 1)
	require.NoError(t, ret)
	r.prepared(c, res)
}

// TestEngineDoesNotComeBack: Close gives up in time, and the rest is done later.
func TestEngineDoesNotComeBack(t *testing.T) {
	r := newRig(t)
	gate, begun := make(chan bool), make(chan bool)
	r.engine.evaluate = func(context.Context, []*ane.Tensor) error {
		begun <- true
		<-gate
		return nil
	}
	info, done := woken()
	c := r.opened(info)
	x := ask{token: r.prepared(c, r.program()), port: 1, surfaces: r.pair(c)}
	_, ret := x.send(c)
	require.NoError(t, ret)
	within(t, begun)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, c.Close(ctx), ane.ErrDeadline)
	require.ErrorIs(t, c.Control(2, x.args()), driverabi.NotOpen)
	close(gate)
	require.NoError(t, c.Close(context.Background()))
	require.NoError(t, within(t, done).Err, "it had run to its end")
}

func TestDriverDrains(t *testing.T) {
	r := newRig(t)
	begun, let := r.hold()
	info, done := woken()
	c := r.opened(info)
	x := ask{token: r.prepared(c, r.program()), port: 1, surfaces: r.pair(c)}
	for range 5 {
		_, ret := x.send(c)
		require.NoError(t, ret)
		x.sequence++
	}
	within(t, begun)
	closed := make(chan error)
	go func() { closed <- r.driver.Close(context.Background()) }()
	soon(t, func() bool {
		_, ret := x.send(c)
		return Code(ret) == driverabi.NotOpen
	}, "no new ones")
	let()
	require.NoError(t, within(t, closed))
	got := map[driverabi.Return]int{}
	for len(done) > 0 {
		got[Code((<-done).Err)]++
	}
	require.Zero(t, got[driverabi.Aborted], "all ran: %v", got)
	require.GreaterOrEqual(t, got[ok], 5)
}

func TestDriverCancelsWhatIsLeft(t *testing.T) {
	r := newRig(t)
	begun, _ := r.hold()
	info, done := woken()
	c := r.opened(info)
	x := ask{token: r.prepared(c, r.program()), port: 1, surfaces: r.pair(c)}
	for range 5 {
		_, ret := x.send(c)
		require.NoError(t, ret)
		x.sequence++
	}
	within(t, begun)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.NoError(t, r.driver.Close(ctx))
	for range 5 {
		require.ErrorIs(t, within(t, done).Err, driverabi.Aborted)
	}
	require.NoError(t, r.driver.Close(ctx), "again")
}
