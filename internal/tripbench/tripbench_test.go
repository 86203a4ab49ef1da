package tripbench

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/internal/leaktest"
)

// The measurements work on any engine; the test does not check their figures.
func TestCases(t *testing.T) {
	leaktest.SkipEmulated(t)
	d, err := ane.Open(soft.New(), "")
	require.NoError(t, err)
	defer d.Close()
	for i, c := range Cases(d) {
		r, err := c.Measure(t.Context(), 1, time.Millisecond)
		if !host.Broker {
			require.ErrorIs(t, err, ane.ErrUnavailable, "bench skips the step and passes")
			continue
		}
		require.NoError(t, err)
		require.Positive(t, r.Measured)
		require.Positive(t, r.Floor)
		require.GreaterOrEqual(t, r.P99, r.Measured)
		require.Equal(t, "Evaluate one row of "+[]string{"1", "16", "256"}[i]+" MB", r.Operation)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Cases(d)[0].Measure(ctx, 1, time.Millisecond)
	require.ErrorIs(t, err, context.Canceled)
}
