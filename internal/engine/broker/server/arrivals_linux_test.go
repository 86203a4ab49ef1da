//go:build !macrules

package server

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// TestSilentSockets: connections that say nothing, more than there are places, are closed when their time for the hello
// is over, and a client that has waited meanwhile is admitted. The counters need no place.
func TestSilentSockets(t *testing.T) {
	const places = 4
	path := listen(t, Config{Stay: true, hello: greeting, process: allowance{clients: places}})
	first := quiet(t, path)
	for range 3 * places {
		quiet(t, path)
	}
	p := dial(t, path)
	r, err := p.ready(model(t, "identity"), 21)
	require.NoError(t, err)
	require.NoError(t, p.evaluate(r, 0))
	gone(t, first)
	for range places - 1 {
		dial(t, path)
	}
	full := quiet(t, path)
	require.EqualValues(t, places, full.counter(t, "clients"))
	require.ErrorIs(t, full.greet(""), ane.ErrExhausted)
	require.NoError(t, p.evaluate(r, 0))
}

// TestPlacesBeside: MaxClients where the usual limit of a process holds, and fewer where descriptors are few.
func TestPlacesBeside(t *testing.T) {
	for limit, want := range map[int64]int{1 << 18: MaxClients, 1024: MaxClients, 384: 44, 64: 4, 16: 1} {
		require.Equal(t, want, placesBeside(limit-spare(limit, reservedFiles)), limit)
	}
}

// TestStatsBeforeHello: the counters are told to a process that has not introduced itself.
func TestStatsBeforeHello(t *testing.T) {
	b := startBroker(t, Config{})
	p := b.raw(alice)
	require.Zero(t, p.counter(t, "clients"))
	require.ErrorIs(t, p.ask(wire.KindPing, &wire.Empty{}, &wire.Empty{}), ane.ErrDenied)
	gone(t, p)
}
