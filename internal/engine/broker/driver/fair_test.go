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
	r := newRig(t, Options{QueueDepth: 3, TotalDepth: 5})
	begun, let := r.hold()
	info, done := woken()
	res := r.program()
	fill := func(n int) { r.fill(r.opened(info), res, n) }
	fill(3)
	fill(2)
	within(t, begun)
	fill(1) // beyond the five
	level := r.driver.Stats().Levels[LevelOf(driverabi.QoSDefault)]
	require.Equal(t, Level{Sent: 6, Refused: 3, Waiting: 5, MostWaiting: 5, LongestWait: level.LongestWait}, level)
	let()
	for range 6 {
		require.Equal(t, ok, within(t, done).Return)
	}
}

// TestSequenceLap: two requests in flight never have one sequence number, however the
// numbers jump; and a client that is never idle is not stopped by it.
func TestSequenceLap(t *testing.T) {
	r := newRig(t, Options{})
	begun, let := r.hold()
	info, done := woken()
	c := r.opened(info)
	x := ask{token: r.prepared(c, r.program()), port: 1, surfaces: r.pair(c)}
	send := func(sequence uint32) driverabi.Return {
		x.sequence = sequence
		_, ret := x.send(c)
		return ret
	}
	const half = 1 << 31
	require.Equal(t, ok, send(0))
	within(t, begun)
	require.Equal(t, ok, send(half-1))
	require.Equal(t, bad, send(half), "0 is in flight")
	require.ErrorContains(t, c.Explain(), "half the circle")
	require.True(t, c.Cancel(0))
	within(t, done)
	within(t, begun) // half-1 runs
	require.Equal(t, ok, send(half), "no request in flight is so far back now")
	require.Equal(t, ok, send(2*(half-1)))
	require.Equal(t, bad, send(2*half-1), "half-1 is in flight")
	let()
	for range 3 {
		require.Equal(t, ok, within(t, done).Return)
	}
	require.Equal(t, ok, send(2*half-1))
	require.Equal(t, ok, within(t, done).Return)
}

// TestInlineFromWake: a completion that sends the next request, to be run at once, does
// not stand on the stack of the one before.
func TestInlineFromWake(t *testing.T) {
	const rounds = 2000
	r := newRig(t, Options{})
	deepest := 0
	r.engine.evaluate = func(context.Context, []*ane.Tensor) error {
		var pcs [512]uintptr
		deepest = max(deepest, runtime.Callers(0, pcs[:]))
		return nil
	}
	info := privileged
	var c *Client
	var x ask
	end := make(chan driverabi.Return, 1)
	info.Wake = func(d Completion) {
		y := x
		if y.sequence = d.Sequence + 1; y.sequence == rounds {
			end <- d.Return
			return
		}
		if _, ret := y.send(c); ret != ok {
			end <- ret
		}
	}
	c = r.opened(info)
	x = ask{token: r.prepared(c, r.program()), port: 1, surfaces: r.pair(c), submit: Submit{Flags: RunInline}}
	_, ret := x.send(c)
	require.Equal(t, ok, ret)
	require.Equal(t, ok, within(t, end))
	require.Less(t, deepest, 100, "frames")
}

// TestLevelsAreCounted has one request of every kind of end.
func TestLevelsAreCounted(t *testing.T) { synctest.Test(t, testLevelsAreCounted) }

func testLevelsAreCounted(t *testing.T) {
	r := newRig(t, Options{QueueDepth: 4})
	begun, let := r.hold()
	info, done := woken()
	c := r.opened(info)
	x := ask{token: r.prepared(c, r.program()), port: 1, surfaces: r.pair(c), qos: driverabi.QoSUtility}
	send := func(want driverabi.Return, limit time.Duration) {
		x.submit.Timeout = uint64(limit)
		_, ret := x.send(c)
		require.Equal(t, want, ret)
		x.sequence++
	}
	send(ok, 0)
	within(t, begun)
	send(ok, 0)
	send(ok, time.Millisecond)
	send(ok, 0)
	send(Full, 0)
	require.Equal(t, driverabi.Timeout, within(t, done).Return)
	require.True(t, c.Cancel(1))
	require.Equal(t, driverabi.Aborted, within(t, done).Return)
	level := func() Level { return r.driver.Stats().Levels[LevelOf(driverabi.QoSUtility)] }
	require.Equal(t, Level{Sent: 4, Cancelled: 1, TimedOut: 1, Refused: 1, Waiting: 1, MostWaiting: 3,
		LongestWait: level().LongestWait}, level())
	require.Equal(t, time.Millisecond, level().LongestWait, "the one that timed out")
	let()
	for range 2 {
		require.Equal(t, ok, within(t, done).Return)
	}
	r.engine.evaluate = func(context.Context, []*ane.Tensor) error { return ane.ErrEngine }
	x.sequence++
	send(ok, 0)
	require.Equal(t, driverabi.DeviceError, within(t, done).Return)
	last := level()
	require.Equal(t, Level{Sent: 5, Completed: 2, Failed: 1, Cancelled: 1, TimedOut: 1, Refused: 1, MostWaiting: 3,
		LongestWait: last.LongestWait}, last)
	for i, l := range r.driver.Stats().Levels {
		if i != LevelOf(driverabi.QoSUtility) {
			require.Zero(t, l, "level %d", i)
		}
	}
}

// TestSessionsBeginAnew: a handshake starts with sequence number 0 and without a hint.
func TestSessionsBeginAnew(t *testing.T) {
	r := newRig(t, Options{})
	c := r.opened(privileged)
	res := r.program()
	x := ask{token: r.prepared(c, res), surfaces: r.pair(c), sequence: 1000}
	_, ret := x.send(c)
	require.Equal(t, ok, ret)
	require.Equal(t, ok, c.Control(1, &driverabi.Args{}))
	_, ret = handshake(c.Control, 1)
	require.Equal(t, ok, ret)
	x.token, x.sequence = r.prepared(c, res), 0
	_, ret = x.send(c)
	require.Equal(t, ok, ret, "0, then 1 on the next submit")

	c.hint = HintBackground
	require.Equal(t, ok, c.Direct(1, &driverabi.Args{}))
	require.Equal(t, HintNone, c.hint)
}
