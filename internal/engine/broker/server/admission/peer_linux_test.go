//go:build !macrules

package admission

import (
	"context"
	"crypto/sha256"
	"os"
	"path/filepath"
	"testing"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire/wiretest"
	"github.com/stretchr/testify/require"
)

func TestIdentityIsUserAndExecutable(t *testing.T) {
	a, b := wiretest.Pair(t)
	defer a.Close()
	defer b.Close()
	exe, err := os.ReadFile("/proc/self/exe")
	require.NoError(t, err)
	var seen Executables
	for range 2 { // the second time from memory
		id, err := seen.Identify(t.Context(), a)
		require.NoError(t, err)
		require.Equal(t, Identity{uint32(os.Geteuid()), sha256.Sum256(exe)}, id)
	}
	require.Len(t, seen.sums, 1)
	p := ProcessOf(a)
	require.Equal(t, os.Getpid(), p.PID)
	require.EqualValues(t, os.Geteuid(), p.User)
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
	var h Executables
	_, err := h.sum(t.Context(), executable(t, 300<<30))
	require.ErrorIs(t, err, ane.ErrExhausted)
	require.ErrorContains(t, err, "322122547200")
	late, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = h.sum(late, executable(t, 1<<20))
	require.ErrorIs(t, err, ane.ErrExhausted)
	require.ErrorContains(t, err, "0 of the 1048576 bytes")
	require.Empty(t, h.sums)
}

// TestHashes: an executable is read once until it changes, and a bounded number is remembered.
func TestHashes(t *testing.T) {
	var h Executables
	f := executable(t, 2*hashChunk+1)
	want := make([]byte, 2*hashChunk+1)
	for _, text := range []string{"", "longer than it was"} {
		want = append(want, text...)
		require.NoError(t, os.WriteFile(f.Name(), want, 0o600))
		for range 2 {
			sum, err := h.sum(t.Context(), f)
			require.NoError(t, err)
			require.Equal(t, sha256.Sum256(want), sum)
		}
	}
	require.Len(t, h.sums, 2)
	for i := range 2 * maxHashes {
		require.NoError(t, f.Truncate(int64(i)))
		_, err := h.sum(t.Context(), f)
		require.NoError(t, err)
	}
	require.LessOrEqual(t, len(h.sums), maxHashes)
}
