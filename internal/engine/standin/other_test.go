//go:build !linux || !cgo

package standin

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/apple"
)

func TestBuildsWithoutLoaderReportIt(t *testing.T) {
	f, err := Start(Options{})
	require.Nil(t, f)
	for _, err := range []error{err, Probe(), f.Fault("compileWithQoS:options:error:", No, 1, 0),
		f.FailSurface("IOSurfaceLock", 1)} {
		require.ErrorIs(t, err, ane.ErrUnavailable)
		var e *ane.Error
		require.ErrorAs(t, err, &e)
		require.NotEmpty(t, e.Hint)
	}
	_, err = apple.Open(t.Context(), f.Config())
	require.ErrorIs(t, err, ane.ErrUnavailable)
	require.Zero(t, f.Counts())
	require.Zero(t, f.SurfaceCounts())
	require.Empty(t, f.Leftovers())
}
