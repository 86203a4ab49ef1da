//go:build darwin || linux

package kv

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Callers that save to one path at once remove no file that another one writes: the last one wins.
func TestSavesToOnePathAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.kv")
	const savers = 6
	done := make(chan error, savers)
	for i := range savers {
		c := made(t, small)
		add(t, c, 20+i)
		go func() {
			var err error
			for n := 0; n < 20 && err == nil; n++ {
				err = c.SaveFile(path, print1)
			}
			done <- err
		}()
	}
	for range savers {
		require.NoError(t, <-done)
	}
	c := made(t, small)
	require.NoError(t, c.RestoreFile(path, print1))
	require.GreaterOrEqual(t, c.Position(), 20)

	// What a killed process left is removed by the next one.
	left := temporary(path)
	require.NoError(t, os.WriteFile(left, []byte("half"), 0o600))
	require.NoError(t, c.SaveFile(path, print1))
	require.NoFileExists(t, left)
}

// A new snapshot is its owner's alone. One that replaces a file keeps the permissions of that file.
func TestSnapshotsKeepTheirPermissions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.kv")
	c := made(t, small)
	add(t, c, 3)
	mode := func() os.FileMode {
		require.NoError(t, c.SaveFile(path, print1))
		info, err := os.Stat(path)
		require.NoError(t, err)
		return info.Mode()
	}
	require.Equal(t, os.FileMode(0o600), mode())
	for _, want := range []os.FileMode{0o644, 0o400, 0o660} {
		require.NoError(t, os.Chmod(path, want))
		require.Equal(t, want, mode())
	}
}
