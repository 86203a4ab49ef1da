package driver

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// TestNobodyIsKeptOut: clients that fill the queue keep it full, and one that has
// nothing in it is let in.
func TestNobodyIsKeptOut(t *testing.T) {
	r := newRig(t).bounded(3, 5)
	begun, let := r.hold()
	info, done := woken()
	res := r.program()
	fill := func(n int) { r.fill(r.opened(info), res, n, "") }
	fill(3)
	fill(2)
	within(t, begun)
	fill(1) // beyond the five
	level := r.driver.Stats().Levels[driverabi.Class(driverabi.QoSDefault).Queue]
	require.Equal(t, Level{Sent: 6, Refused: 3, Waiting: 5, MostWaiting: 5, LongestWait: level.LongestWait}, level)
	let()
	for range 6 {
		require.NoError(t, within(t, done).Err)
	}
}

// TestSequenceLap: two requests in flight never have one sequence number, however the
// numbers jump; and a client that is never idle is not stopped by it.
func TestSequenceLap(t *testing.T) {
	r := newRig(t)
	begun, let := r.hold()
	info, done := woken()
	c := r.opened(info)
	x := ask{token: r.prepared(c, r.program()), port: 1, surfaces: r.pair(c)}
	send := func(sequence uint32) error {
		x.sequence = sequence
		_, ret := x.send(c)
		return ret
	}
	const half = 1 << 31
	require.NoError(t, send(0))
	within(t, begun)
	require.NoError(t, send(half-1))
	ret := send(half)
	require.ErrorIs(t, ret, bad, "0 is in flight")
	require.ErrorContains(t, ret, "half the circle")
	require.NotEqual(t, NotFound, c.Stop(0))
	within(t, done)
	within(t, begun) // half-1 runs
	require.NoError(t, send(half), "no request in flight is so far back now")
	require.NoError(t, send(2*(half-1)))
	require.ErrorIs(t, send(2*half-1), bad, "half-1 is in flight")
	let()
	for range 3 {
		require.NoError(t, within(t, done).Err)
	}
	require.NoError(t, send(2*half-1))
	require.NoError(t, within(t, done).Err)
}

// TestInlineFromWake: a completion that sends the next request, to be run at once, does
// not stand on the stack of the one before.
func TestInlineFromWake(t *testing.T) {
	const rounds = 2000
	r := newRig(t)
	deepest := 0
	r.engine.evaluate = func(context.Context, []*ane.Tensor) error {
		var pcs [512]uintptr
		deepest = max(deepest, runtime.Callers(0, pcs[:]))
		return nil
	}
	info := privileged
	var c *Client
	var x ask
	end := make(chan error, 1)
	info.Wake = func(d Completion) {
		y := x
		if y.sequence = d.Sequence + 1; y.sequence == rounds {
			end <- d.Err
			return
		}
		if _, ret := y.send(c); ret != nil {
			end <- ret
		}
	}
	c = r.opened(info)
	x = ask{token: r.prepared(c, r.program()), port: 1, surfaces: r.pair(c), submit: Submit{Flags: RunInline}}
	_, ret := x.send(c)
	require.NoError(t, ret)
	require.NoError(t, within(t, end))
	require.Less(t, deepest, 100, "frames")
}

// TestLevelsAreCounted has one request of every kind of end.
func TestLevelsAreCounted(t *testing.T) { synctest.Test(t, testLevelsAreCounted) }

func testLevelsAreCounted(t *testing.T) {
	r := newRig(t).bounded(4, totalDepth)
	begun, let := r.hold()
	info, done := woken()
	c := r.opened(info)
	x := ask{token: r.prepared(c, r.program()), port: 1, surfaces: r.pair(c), qos: driverabi.QoSUtility}
	send := func(want driverabi.Return, limit time.Duration) {
		x.submit.Timeout = uint64(limit)
		_, ret := x.send(c)
		require.Equal(t, want, Code(ret))
		x.sequence++
	}
	send(ok, 0)
	within(t, begun)
	send(ok, 0)
	send(ok, time.Millisecond)
	send(ok, 0)
	send(Full, 0)
	require.ErrorIs(t, within(t, done).Err, driverabi.Timeout)
	require.NotEqual(t, NotFound, c.Stop(1))
	require.ErrorIs(t, within(t, done).Err, driverabi.Aborted)
	level := func() Level { return r.driver.Stats().Levels[driverabi.Class(driverabi.QoSUtility).Queue] }
	require.Equal(t, Level{Sent: 4, Cancelled: 1, TimedOut: 1, Refused: 1, Waiting: 1, MostWaiting: 3,
		LongestWait: level().LongestWait}, level())
	require.Equal(t, time.Millisecond, level().LongestWait, "the one that timed out")
	let()
	for range 2 {
		require.NoError(t, within(t, done).Err)
	}
	r.engine.evaluate = func(context.Context, []*ane.Tensor) error { return ane.ErrEngine }
	x.sequence++
	send(ok, 0)
	require.ErrorIs(t, within(t, done).Err, driverabi.DeviceError)
	last := level()
	require.Equal(t, Level{Sent: 5, Completed: 2, Failed: 1, Cancelled: 1, TimedOut: 1, Refused: 1, MostWaiting: 3,
		LongestWait: last.LongestWait}, last)
	for i, l := range r.driver.Stats().Levels {
		if i != driverabi.Class(driverabi.QoSUtility).Queue {
			require.Zero(t, l, "level %d", i)
		}
	}
}

// TestSessionsBeginAnew: a handshake starts with sequence number 0 and without a hint.
func TestSessionsBeginAnew(t *testing.T) {
	r := newRig(t)
	c := r.opened(privileged)
	res := r.program()
	x := ask{token: r.prepared(c, res), surfaces: r.pair(c), sequence: 1000}
	_, ret := x.send(c)
	require.NoError(t, ret)
	require.NoError(t, c.Control(1, &driverabi.Args{}))
	_, ret = handshake(c.Control, 1)
	require.NoError(t, ret)
	x.token, x.sequence = r.prepared(c, res), 0
	_, ret = x.send(c)
	require.NoError(t, ret, "0, then 1 on the next submit")

	c.hint = HintBackground
	require.NoError(t, c.Direct(1, &driverabi.Args{}))
	require.Equal(t, HintNone, c.hint)
}
