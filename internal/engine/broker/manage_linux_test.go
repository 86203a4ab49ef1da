//go:build !macrules

package broker

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/server"
)

// Purge, counters and quality of service reach the broker through the Device.
func TestDeviceManagesItsBroker(t *testing.T) {
	e, err := Open(t.Context(), Options{Path: serveOwner(t, server.Config{CacheDir: t.TempDir()})})
	require.NoError(t, err)
	d, err := ane.Open(e, "")
	require.NoError(t, err)
	p := scaling(t, 2)
	m, err := d.Compile(t.Context(), ane.Source{Program: p.Program, Weights: p.Weights})
	require.NoError(t, err)
	r, err := m.NewRequest(t.Context())
	require.NoError(t, err)
	require.NoError(t, r.SetQoS(ane.QoSBackground))
	result, err := r.Evaluate(t.Context())
	require.NoError(t, err)
	require.Equal(t, ane.QoSBackground, result.QoS)

	counters, err := d.Counters(t.Context())
	require.NoError(t, err)
	require.NotEmpty(t, counters)
	require.Contains(t, counters, "requests running")
	programs, bytes, err := d.Purge(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, programs)
	require.Positive(t, bytes)
	programs, _, err = d.Purge(t.Context())
	require.NoError(t, err)
	require.Zero(t, programs)
	_, err = r.Evaluate(t.Context())
	require.NoError(t, err, "a purge ends nothing")

	over, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = d.Counters(over)
	require.ErrorIs(t, err, ane.ErrDeadline)
	require.NoError(t, r.Close())
	require.NoError(t, m.Close(t.Context()))
	require.NoError(t, d.Close())
	_, err = e.(ane.Keeper).Counters(t.Context())
	require.ErrorIs(t, err, ane.ErrClosed)
}
