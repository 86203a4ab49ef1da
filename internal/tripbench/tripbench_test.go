package tripbench

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/internal/leaktest"
)

// The measurements work on any engine; the test does not check their figures.
func TestMeasure(t *testing.T) {
	leaktest.SkipEmulated(t)
	d, err := ane.Open(soft.New(), "")
	require.NoError(t, err)
	r, err := Measure(t.Context(), d, func(string) {})
	if !host.Broker {
		require.ErrorIs(t, err, ane.ErrUnavailable, "bench skips the step and passes")
		require.NoError(t, d.Close())
		return
	}
	require.NoError(t, err)
	require.NoError(t, d.Close())
	require.Positive(t, r.Floor)
	require.Len(t, r.Trips, len(sizes))
	var b bytes.Buffer
	require.NoError(t, r.Write(&b))
	require.Contains(t, b.String(), "one row of 256 MB")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Measure(ctx, d, func(string) {})
	require.ErrorIs(t, err, context.Canceled)
}
