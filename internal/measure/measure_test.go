package measure_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/measure"
	"github.com/anekit/anekit/internal/step"
)

func sleep(d time.Duration) measure.Loop {
	return func(n int) error {
		time.Sleep(time.Duration(n) * d)
		return nil
	}
}

// slow is an operation that takes about 20 times its floor.
func slow(close func() error) measure.Case {
	return measure.Case{Name: "Slow", What: "slow", MaxRatio: 1e6, MaxNs: 25e9, Published: "1 s",
		Open: opens(sleep(2*time.Millisecond), close), Floor: opens(sleep(100*time.Microsecond), nil)}
}

func opens(l measure.Loop, close func() error) measure.Opener {
	return func(t *step.T) measure.Loop {
		if close != nil {
			t.Closing(close)
		}
		return l
	}
}

func TestMeasure(t *testing.T) {
	closed := 0
	c := slow(func() error { closed++; return nil })
	for _, each := range []bool{false, true} {
		if c.Each = each; each {
			c.Open, c.Floor = opens(sleep(20*time.Microsecond), nil), opens(sleep(time.Microsecond), nil)
		}
		r, err := c.Measure(t.Context(), 2, time.Millisecond)
		require.NoError(t, err)
		require.Positive(t, r.Measured)
		require.Positive(t, r.Floor)
		require.InEpsilon(t, r.Measured/r.Floor, r.Ratio, 1e-9)
		require.Equal(t, each, r.P99 >= r.Measured)
		require.Equal(t, "<= 1e+06x, < 25000 ms", r.Target)
		require.Empty(t, r.Missed)
		require.Len(t, r.Targets, 2)
	}
	require.Equal(t, 1, closed)
}

func TestTargets(t *testing.T) {
	for _, c := range []struct {
		ratio, ns    float64
		text, missed string
	}{{0, 0, "none", measure.Met}, {1e9, 1e12, "<= 1e+09x, < 1000000 ms", measure.Met},
		{1e-9, 0, "<= 1e-09x", measure.Missed}, {0, 1, "< 1 ns", measure.FloorExceeds}} {
		one := slow(nil)
		one.MaxRatio, one.MaxNs = c.ratio, c.ns
		r, err := one.Measure(t.Context(), 1, time.Millisecond)
		require.NoError(t, err)
		require.Equal(t, c.missed, r.Missed)
		require.Equal(t, c.text, r.Target)
	}
}

// A case that fails or needs too much memory is closed and says why; it ends with its context.
func TestFailures(t *testing.T) {
	closed := false
	c := slow(nil)
	c.Open = opens(func(int) error { return errors.New("broken") }, func() error { closed = true; return nil })
	_, err := c.Measure(t.Context(), 1, 1)
	require.EqualError(t, err, "broken")
	require.True(t, closed)
	c.Bytes = 1 << 60
	_, err = c.Measure(t.Context(), 1, 1)
	require.ErrorIs(t, err, measure.ErrMemory)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c = slow(nil)
	_, err = c.Measure(ctx, 1, 1)
	require.ErrorIs(t, err, context.Canceled)
}

// What takes no time, however often, is measured all the same.
func TestMeasureNothing(t *testing.T) {
	c := measure.Case{Open: opens(func(int) error { return nil }, nil)}
	r, err := c.Measure(t.Context(), 1, 1)
	require.NoError(t, err)
	require.Positive(t, r.Ratio)
	require.Zero(t, r.Allocs)
}

// Sides take turns in alternating order, and each lap is a step of its own.
func TestTurns(t *testing.T) {
	order := ""
	side := func(name string, laps int) measure.Side {
		return func(lap func()) error {
			order += name
			for range laps {
				lap()
			}
			return nil
		}
	}
	all, err := measure.Turns(t.Context(), 3, side("a", 0), side("b", 2))
	require.NoError(t, err)
	require.Equal(t, "abbaab", order)
	require.Len(t, all[0], 3)
	require.Len(t, all[0][0], 1)
	require.Len(t, all[1][0], 2)
	times := measure.Times{{9, 1}, {3, 2}, {5, 3}}
	require.EqualValues(t, 3, times.Best(0))
	require.EqualValues(t, 2, times.Median(1))
}
