package driver

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// steps has the run of sequence number 0 be of so many steps, which yield in between, and notes what runs in which
// order: the sequence number of a run at its start, and -1 for each of its steps. before is called before each yield.
func (r *rig) steps(n int, before func(step int)) (order *[]int) {
	order = new([]int)
	r.driver.leastTurn = 0
	r.engine.evaluate = func(ctx context.Context, _ []*ane.Tensor) error {
		l := ctx.(*life)
		*order = append(*order, int(l.request.sequence))
		if l.request.sequence != 0 {
			return nil
		}
		for step := range n {
			before(step)
			r.engine.running.Add(-1)
			l.Yield()
			r.engine.running.Add(1)
			*order = append(*order, -1)
		}
		return nil
	}
	return order
}

// TestHigherLevelsRunBetweenSteps: a request of a higher class waits for a step of a long run, and not for its end;
// those of its own class, of lower ones, and of its own program wait.
func TestHigherLevelsRunBetweenSteps(t *testing.T) {
	r := newRig(t)
	info, done := woken()
	c := r.opened(info)
	long, short := r.program(), r.program()
	pair := r.pair(c)
	x := ask{token: r.prepared(c, long), port: 1, surfaces: pair, qos: driverabi.QoSUtility}
	y := ask{token: r.prepared(c, short), port: 1, surfaces: pair}
	send := func(a ask, sequence, qos uint32) {
		a.sequence, a.qos = sequence, qos
		if _, ret := a.send(c); ret != nil { // not with FailNow: it may be the engine's goroutine
			t.Error(sequence, ret)
		}
	}
	order := r.steps(4, func(step int) {
		switch step {
		case 1:
			send(y, 1, driverabi.QoSUserInteractive)
			send(y, 2, driverabi.QoSUtility)
			send(y, 3, driverabi.QoSBackground)
			send(x, 4, driverabi.QoSUserInteractive)
		case 2:
			send(y, 5, driverabi.QoSDefault)
			send(y, 6, driverabi.QoSUserInteractive)
		}
	})
	send(x, 0, driverabi.QoSUtility)
	for range 7 {
		require.NoError(t, within(t, done).Err)
	}
	got := *order
	require.Equal(t, []int{0, -1, 1, -1, 5, 6, -1, -1}, got[:8], "the class of 1 has had a turn, so 5 is due before 6")
	require.ElementsMatch(t, []int{4, 2, 3}, withoutSteps(got[8:]))
	require.EqualValues(t, 3, r.driver.Stats().Yields)
}

func withoutSteps(order []int) (runs []int) {
	for _, n := range order {
		if n >= 0 {
			runs = append(runs, n)
		}
	}
	return runs
}

// TestLongRunsGoOn: a higher class that always has work leaves a long run a step in as many turns as its weight is
// less.
func TestLongRunsGoOn(t *testing.T) {
	r := newRig(t)
	info, done := woken()
	c := r.opened(info)
	pair := r.pair(c)
	x := ask{token: r.prepared(c, r.program()), port: 1, surfaces: pair, qos: driverabi.QoSBackground}
	y := ask{token: r.prepared(c, r.program()), port: 1, surfaces: pair, qos: driverabi.QoSUserInteractive}
	low, high := driverabi.Class(driverabi.QoSBackground).Queue, driverabi.Class(driverabi.QoSUserInteractive).Queue
	const steps, queued = 3, 120
	order := r.steps(steps, func(step int) {
		for ; step == 0 && y.sequence < queued; y.sequence++ {
			a := y
			a.sequence++
			if _, ret := a.send(c); ret != nil {
				t.Error(a.sequence, ret)
			}
		}
	})
	_, ret := x.send(c)
	require.NoError(t, ret)
	for range queued + 1 {
		require.NoError(t, within(t, done).Err)
	}
	between, ran := 0, 0
	for _, n := range (*order)[1:] {
		if n >= 0 {
			between++
			continue
		}
		ran++
		require.LessOrEqual(t, between, 1<<(low-high)+1, "before step %d", ran)
		require.NotZero(t, between)
		between = 0
	}
	require.Equal(t, steps, ran)
}

// TestPausedRunIsCancelled: a run that has yielded is still running, and ends when it goes on.
func TestPausedRunIsCancelled(t *testing.T) {
	r := newRig(t)
	info, done := woken()
	c := r.opened(info)
	pair := r.pair(c)
	x := ask{token: r.prepared(c, r.program()), port: 1, surfaces: pair, qos: driverabi.QoSBackground}
	y := ask{token: r.prepared(c, r.program()), port: 1, surfaces: pair, qos: driverabi.QoSDefault, sequence: 1}
	found := make(chan Found, 1)
	r.engine.evaluate = func(ctx context.Context, _ []*ane.Tensor) error {
		l := ctx.(*life)
		if l.request.sequence == 1 {
			found <- c.Stop(0)
			return nil
		}
		if _, ret := y.send(c); ret != nil {
			t.Error(ret)
		}
		r.engine.running.Add(-1)
		l.Yield()
		r.engine.running.Add(1)
		return l.Err()
	}
	_, ret := x.send(c)
	require.NoError(t, ret)
	require.Equal(t, WasRunning, within(t, found))
	first, second := within(t, done), within(t, done)
	require.EqualValues(t, 1, first.Sequence)
	require.NoError(t, first.Err)
	require.ErrorIs(t, second.Err, driverabi.Aborted)
}

// TestTurnsHaveALeastTime: a run that has yielded goes on for a while before it yields again, however often the engine
// asks, so that short requests that come without end leave it time.
func TestTurnsHaveALeastTime(t *testing.T) {
	for _, turn := range []time.Duration{time.Hour, time.Nanosecond} {
		r := newRig(t)
		info, done := woken()
		c := r.opened(info)
		pair := r.pair(c)
		x := ask{token: r.prepared(c, r.program()), port: 1, surfaces: pair, qos: driverabi.QoSBackground}
		y := ask{token: r.prepared(c, r.program()), port: 1, surfaces: pair, qos: driverabi.QoSUserInteractive}
		order := r.steps(3, func(step int) {
			y.sequence = uint32(step) + 1
			if _, ret := y.send(c); ret != nil {
				t.Error(step, ret)
			}
		})
		r.driver.leastTurn = turn
		_, ret := x.send(c)
		require.NoError(t, ret)
		for range 4 {
			require.NoError(t, within(t, done).Err)
		}
		want := []int{0, 1, -1, 2, -1, 3, -1}
		if turn == time.Hour {
			want = []int{0, 1, -1, -1, -1, 2, 3} // the first yield needs no turn before it
		}
		require.Equal(t, want, *order)
	}
}
