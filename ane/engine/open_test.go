package engine_test

import (
	"bytes"
	"context"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/internal/brokertest"
)

func TestRequireAppleRefusesOtherEngines(t *testing.T) {
	d, err := engine.Open(t.Context(), engine.Auto, engine.RequireApple())
	if err == nil {
		require.Equal(t, engine.Apple, d.Receipt().Engine)
		require.NoError(t, d.Close())
		return
	}
	require.ErrorIs(t, err, ane.ErrUnavailable)
	for _, s := range engine.Probe() {
		if s.Name == engine.Apple {
			require.ErrorContains(t, err, s.Reason)
		}
	}
	_, err = engine.Open(t.Context(), engine.Soft, engine.RequireApple())
	require.ErrorIs(t, err, ane.ErrUnavailable)
	require.ErrorContains(t, err, "remove RequireApple")
}

func TestAllowOffsetsOpensAnEngineWithOffsets(t *testing.T) {
	d, err := engine.Open(t.Context(), engine.Auto, engine.AllowOffsets())
	require.NoError(t, err)
	require.True(t, d.Info().Offsets)
	require.Equal(t, engine.Soft, d.Receipt().Engine)
	require.NotEmpty(t, d.Receipt().Fallback)
	require.NoError(t, d.Close())

	d, err = engine.Open(t.Context(), engine.Soft)
	require.NoError(t, err)
	require.False(t, d.Info().Offsets)
	require.NoError(t, d.Close())
}

func TestAllowOffsetsIsRefusedWhereTensorsStartAtByte0(t *testing.T) {
	brokertest.Need(t)
	_, err := engine.Open(t.Context(), engine.Broker, engine.AllowOffsets())
	require.ErrorIs(t, err, ane.ErrUnavailable)
	require.ErrorContains(t, err, "byte 0")
}

func TestBrokerPathIsTheSocket(t *testing.T) {
	brokertest.Need(t)
	path := filepath.Join(t.TempDir(), "none.sock")
	_, err := engine.Open(t.Context(), engine.Broker, engine.BrokerPath(path))
	require.ErrorIs(t, err, ane.ErrUnavailable)
	require.ErrorContains(t, err, path)

	t.Setenv("ANEKIT_BROKER", path)
	_, err = engine.Open(t.Context(), engine.Broker)
	require.ErrorContains(t, err, path)
	d, err := engine.Open(t.Context(), engine.Broker, engine.BrokerPath(""))
	require.NoError(t, err, "an empty path is a private broker, also with ANEKIT_BROKER set")
	require.NoError(t, d.Close())
}

func TestLoggerRecordsOpen(t *testing.T) {
	var b bytes.Buffer
	d, err := engine.Open(t.Context(), engine.Soft, engine.Logger(slog.New(slog.NewTextHandler(&b, nil))))
	require.NoError(t, err)
	require.NoError(t, d.Close())
	require.Contains(t, b.String(), "engine opened")
	require.Contains(t, b.String(), "engine=soft")
	d, err = engine.Open(t.Context(), engine.Soft, engine.Logger(nil), nil)
	require.NoError(t, err, "nil options change nothing")
	require.NoError(t, d.Close())
}

func TestOpenEndsWithItsContext(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for _, name := range []string{engine.Auto, engine.Soft, engine.Broker} {
		_, err := engine.Open(over, name)
		require.ErrorIs(t, err, ane.ErrDeadline)
		require.ErrorIs(t, err, context.Canceled)
	}
}
