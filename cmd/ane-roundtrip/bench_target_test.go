package main

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
)

func rounds3(v ...float64) (f figure) {
	for _, one := range v {
		f.add(one)
	}
	return f
}

// A figure misses its target if it exceeds it by more than the spread of the rounds.
func TestTargetVerdict(t *testing.T) {
	for _, c := range []struct {
		figure          figure
		unreachable     string
		verdict, status string
	}{
		{rounds3(1.2, 1.1, 1.3), "", metTarget, trial.Pass},
		{rounds3(1.25), "", metTarget, trial.Pass},
		{rounds3(1.3, 1.4, 1.5), "", withinNoise, trial.Pass},
		{rounds3(1.5, 1.55, 1.6), "", missedTarget, trial.Fail},
		{rounds3(1.5, 1.55, 1.6), "the floor alone takes 7.0 ns", floorExceeds, trial.Skip},
		{rounds3(1.5), "", missedTarget, trial.Fail},
	} {
		one := target{name: "TapeTake/ratio", what: "Tape take", unit: "x", figure: c.figure, most: 1.25,
			unreachable: c.unreachable}
		require.Equal(t, c.verdict, one.verdict(), "%+v", c.figure)
		check := one.check()
		require.Equal(t, c.status, check.Status)
		require.Equal(t, "bench/TapeTake/ratio", check.Name)
		require.EqualValues(t, 1.25, *check.Allowed.Max)
	}
	failing := target{name: "TapeTake/ratio", what: "Tape take", unit: "x", figure: rounds3(1.5, 1.55, 1.6), most: 1.25}
	require.Equal(t, "Tape take: 1.50x, spread of 3 rounds 0.10x, target 1.25x", failing.check().Detail)
	slow := target{name: "x", what: "open", unit: "ns", figure: rounds3(30e3, 31e3), most: 25e3}
	require.Equal(t, "open: 30.0 us, spread of 2 rounds 1.0 us, target 25.0 us", slow.check().Detail)
	// A loaded machine slows the floor too: the ratio decides.
	good := target{unit: "x", figure: rounds3(1.2, 1.3), most: 1.25}
	slow.figure, slow.ratio = rounds3(50e3, 51e3), &good
	require.Equal(t, ratioMet, slow.verdict())
	require.Equal(t, trial.Pass, slow.check().Status)
	require.Equal(t, "open: 50.0 us, spread of 2 rounds 1.0 us, target 25.0 us; the ratio to the floor of the same "+
		"rounds, 1.20x, meets its target 1.25x", slow.check().Detail)
	slow.ratio = &failing
	require.Equal(t, missedTarget, slow.verdict())
	require.Equal(t, trial.Fail, slow.check().Status)
	slow.unreachable = "the floor alone takes 30.0 us"
	require.Equal(t, trial.Skip, slow.check().Status)
	require.Equal(t, missedTarget, worse(withinNoise, missedTarget))
	require.Equal(t, floorExceeds, worse(floorExceeds, metTarget))
	require.Equal(t, metTarget, worse(metTarget, metTarget))
}

// bench records a step that cannot run. The verdict is fail, unless the engine is not available.
func TestBenchSkips(t *testing.T) {
	b := &benchRun{}
	require.NoError(t, b.skip(t.Context(), "evaluate", fmt.Errorf("open: %w", ane.ErrUnavailable)))
	require.Empty(t, b.failed)
	require.NoError(t, b.skip(t.Context(), "write", errors.New("no memory")))
	require.Equal(t, []string{"write"}, b.failed)
	require.Len(t, b.found.Skipped, 2)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, b.skip(ctx, "x", errors.New("any")), context.Canceled)
}
