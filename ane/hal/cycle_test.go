package hal_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/hal"
	"github.com/anekit/anekit/internal/effort"
)

func TestCycles(t *testing.T) {
	d := newDevice(t, hal.FindCycles())
	q, ctx := d.Queue(), context.Background()
	a, b, c := hal.NewSemaphore(0), hal.NewSemaphore(0), hal.NewSemaphore(0)
	require.NoError(t, q.Execute(ctx, []hal.Point{{a, 1}}, []hal.Point{{b, 1}}))
	require.NoError(t, q.Execute(ctx, []hal.Point{{b, 1}}, []hal.Point{{c, 1}, {c, 2}}))
	require.NoError(t, q.Execute(ctx, []hal.Point{{c, 3}}, []hal.Point{{a, 1}}), "another value")
	err := q.Execute(ctx, []hal.Point{{c, 2}}, []hal.Point{{a, 1}})
	require.ErrorIs(t, err, hal.ErrCycle)
	var cycle *hal.CycleError
	require.ErrorAs(t, err, &cycle)
	require.ElementsMatch(t, []hal.Point{{a, 1}, {b, 1}, {c, 2}}, cycle.Points)
	require.ErrorIs(t, q.Execute(ctx, []hal.Point{{c, 9}}, []hal.Point{{c, 9}}), hal.ErrCycle, "by itself")
	buf, err := q.Alloca(ctx, []hal.Point{{c, 2}}, []hal.Point{{a, 1}}, 8)
	require.ErrorIs(t, err, hal.ErrCycle)
	require.Nil(t, buf)
	one := record(t, d, hal.OneShot, func(*hal.CommandBuffer) {})
	require.ErrorIs(t, q.Execute(ctx, []hal.Point{{c, 2}}, []hal.Point{{a, 1}}, one), hal.ErrCycle)
	require.NoError(t, a.Signal(1))
	require.NoError(t, wait(t, c, 2))
	require.NoError(t, q.Execute(ctx, []hal.Point{{c, 2}}, []hal.Point{{a, 1}}, one), "reached, and not used up")
	require.NoError(t, c.Signal(3))
}

// A chain that is submitted in its order is not searched: the allocations of a submission do not grow with it.
func TestCyclesAreSearchedWhereOneCanBe(t *testing.T) {
	if effort.Race {
		t.Skip("the race detector allocates")
	}
	d := newDevice(t, hal.FindCycles())
	s, v := hal.NewSemaphore(0), uint64(0)
	next := func() {
		v++
		require.NoError(t, d.Queue().Execute(t.Context(), []hal.Point{{s, v}}, []hal.Point{{s, v + 1}}))
	}
	for range 1000 {
		next()
	}
	require.Less(t, testing.AllocsPerRun(100, next), 100.0)
	require.ErrorIs(t, d.Queue().Execute(t.Context(), []hal.Point{{s, v + 1}}, []hal.Point{{s, 1}}), hal.ErrCycle)
	require.NoError(t, s.Signal(1))
	require.NoError(t, wait(t, s, v+1))
}

// A cycle may pass submissions of several Devices.
func TestCyclesOfTwoDevices(t *testing.T) {
	first, second := newDevice(t, hal.FindCycles()), newDevice(t, hal.FindCycles())
	ctx := context.Background()
	a, b, c := hal.NewSemaphore(0), hal.NewSemaphore(0), hal.NewSemaphore(0)
	require.NoError(t, first.Queue().Execute(ctx, []hal.Point{{a, 1}}, []hal.Point{{b, 1}}))
	require.NoError(t, second.Queue().Execute(ctx, []hal.Point{{b, 1}}, []hal.Point{{c, 1}}))
	for range 2 { // what is refused leaves nothing
		var cycle *hal.CycleError
		require.ErrorAs(t, second.Queue().Execute(ctx, []hal.Point{{c, 1}}, []hal.Point{{a, 1}}), &cycle)
		require.ElementsMatch(t, []hal.Point{{a, 1}, {b, 1}, {c, 1}}, cycle.Points)
	}
	require.NoError(t, first.Queue().Execute(ctx, []hal.Point{{c, 2}}, []hal.Point{{a, 1}}), "another value")
	require.NoError(t, a.Signal(1))
	require.NoError(t, wait(t, c, 1))
	require.NoError(t, second.Queue().Execute(ctx, []hal.Point{{c, 1}}, []hal.Point{{a, 1}}), "reached")
	require.NoError(t, c.Signal(2))
}
