package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/internal/leaktest"
)

func TestSoftIsAlwaysAvailableAndNeverReportsApple(t *testing.T) {
	for _, name := range []string{engine.Soft, engine.Auto} {
		d, err := engine.Open(t.Context(), name)
		require.NoError(t, err)
		r := d.Receipt()
		if !host.Apple {
			require.Equal(t, engine.Soft, r.Engine)
		}
		require.Equal(t, name == engine.Auto && r.Engine == engine.Soft, r.Fallback != "",
			"a fallback has a reason: %q", r.Fallback)
		require.NoError(t, d.Close())
	}
}

func TestUnavailableEnginesHaveAReason(t *testing.T) {
	leaktest.SkipEmulated(t)
	for _, s := range engine.Probe() {
		require.NotEmpty(t, s.What)
		require.Equal(t, s.Available, s.Reason == "", "%+v", s)
		d, err := engine.Open(t.Context(), s.Name)
		if s.Available {
			require.NoError(t, err)
			require.Equal(t, s.Name, d.Receipt().Engine)
			require.Empty(t, d.Receipt().Fallback)
			require.NoError(t, d.Close())
			continue
		}
		require.ErrorIs(t, err, ane.ErrUnavailable)
		require.ErrorContains(t, err, s.Reason)
	}
	_, err := engine.Open(t.Context(), "gpu")
	require.ErrorIs(t, err, ane.ErrName)
	require.ErrorContains(t, err, "soft")
}

func TestWrapIsAppliedToTheEngineThatOpens(t *testing.T) {
	var saw string
	d, err := engine.Open(t.Context(), engine.Soft, engine.Wrap(nil), engine.Wrap(func(e ane.Engine) ane.Engine {
		saw = e.Info().Name
		return e
	}))
	require.NoError(t, err)
	require.Equal(t, engine.Soft, saw)
	require.NoError(t, d.Close())
}
