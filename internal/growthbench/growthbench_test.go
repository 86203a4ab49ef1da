package growthbench

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/ane/engine/broker"
	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/internal/step"
	"github.com/anekit/anekit/internal/tripbench"
)

func TestMain(m *testing.M) {
	broker.ServeChild()
	tripbench.ServeSignals()
	ServeClient()
	leaktest.Main(m)
}

// Every subject has two points at least, and an exponent. The test does not check the figures.
func TestSubjects(t *testing.T) {
	leaktest.SkipEmulated(t)
	d, err := engine.Open(t.Context(), engine.Soft)
	require.NoError(t, err)
	defer d.Close()
	seen := map[string]bool{}
	for _, s := range Subjects(d, t.TempDir()) {
		require.False(t, seen[s.Name])
		seen[s.Name] = true
		g, err := s.Measure(t.Context(), time.Millisecond)
		if errors.Is(err, ane.ErrUnavailable) {
			continue // no broker
		}
		require.NoError(t, err, s.Name)
		require.GreaterOrEqual(t, len(g.Points), 2, s.Name)
		for i, p := range g.Points {
			require.Equal(t, s.Sizes[i], p.Size)
			require.Positive(t, p.Cost, s.Name)
		}
		require.False(t, math.IsNaN(g.Exponent) || math.IsInf(g.Exponent, 0), s.Name)
	}
}

func TestExponent(t *testing.T) {
	var points []Point
	for _, n := range []int{10, 30, 200, 5000} {
		points = append(points, Point{n, 7 * math.Pow(float64(n), 1.5)})
	}
	require.InDelta(t, 1.5, exponent(points), 1e-9)
	require.InDelta(t, 1.5, exponent(points[2:]), 1e-9)
}

// A subject ends at its first error, with the points before it, and before a size that would take too long.
func TestMeasureEnds(t *testing.T) {
	broken := errors.New("broken")
	s := Subject{Name: "x", Expected: 3, Sizes: []int{1, 2, 4, 8}}
	s.Open = func(_ *step.T, n int) (func() error, int) {
		return func() error {
			if n > 1 {
				return broken
			}
			return nil
		}, 5
	}
	g, err := s.Measure(t.Context(), time.Second)
	require.ErrorIs(t, err, broken)
	require.Len(t, g.Points, 1)
	s.Open = func(*step.T, int) (func() error, int) { return func() error { return nil }, 1 }
	g, err = s.Measure(t.Context(), 0)
	require.NoError(t, err)
	require.Len(t, g.Points, 2)
}
