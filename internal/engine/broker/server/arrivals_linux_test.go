//go:build !macrules

package server

import (
	"context"
	"crypto/sha256"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire"
)

// TestSilentSockets: connections that say nothing, more than there are places, are closed when their time for the hello
// is over, and a client that has waited meanwhile is admitted. The counters need no place.
func TestSilentSockets(t *testing.T) {
	const places = 4
	path := listen(t, Config{Stay: true, hello: tick, process: allowance{clients: places}})
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

// executable makes a sparse file.
func executable(t *testing.T, size int64) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "executable"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	require.NoError(t, f.Truncate(size))
	return f
}

// TestLargeExecutables: one of 300 GB is refused with its size, and one that is not read in the time for hello with how
// far it was.
func TestLargeExecutables(t *testing.T) {
	var h hashes
	_, err := h.of(t.Context(), executable(t, 300<<30))
	require.ErrorIs(t, err, ane.ErrExhausted)
	require.ErrorContains(t, err, "322122547200")
	late, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = h.of(late, executable(t, 1<<20))
	require.ErrorIs(t, err, ane.ErrExhausted)
	require.ErrorContains(t, err, "0 of the 1048576 bytes")
	require.Empty(t, h.sums)
}

// TestHashes: an executable is read once until it changes, and a bounded number is remembered.
func TestHashes(t *testing.T) {
	var h hashes
	f := executable(t, 2*hashChunk+1)
	want := make([]byte, 2*hashChunk+1)
	for _, text := range []string{"", "longer than it was"} {
		want = append(want, text...)
		require.NoError(t, os.WriteFile(f.Name(), want, 0o600))
		for range 2 {
			sum, err := h.of(t.Context(), f)
			require.NoError(t, err)
			require.Equal(t, sha256.Sum256(want), sum)
		}
	}
	require.Len(t, h.sums, 2)
	for i := range 2 * maxHashes {
		require.NoError(t, f.Truncate(int64(i)))
		_, err := h.of(t.Context(), f)
		require.NoError(t, err)
	}
	require.LessOrEqual(t, len(h.sums), maxHashes)
}

// TestStatsBeforeHello: the counters are told to a process that has not introduced itself.
func TestStatsBeforeHello(t *testing.T) {
	b := startBroker(t, Config{})
	p := b.raw(alice)
	require.Zero(t, p.counter(t, "clients"))
	require.ErrorIs(t, p.ask(wire.KindPing, &wire.Empty{}, &wire.Empty{}), ane.ErrDenied)
	gone(t, p)
}
