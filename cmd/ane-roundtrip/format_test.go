package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/anekit/anekit/internal/require"
)

// fmt -w does not replace a file that another process changed after fmt read it.
func TestRewriteKeepsNewerText(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.mil")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
	read, err := os.Stat(path)
	require.NoError(t, err)
	require.NoError(t, rewrite(path, read, []byte("formatted")))
	err = rewrite(path, read, []byte("formatted again"))
	require.ErrorContains(t, err, "was changed while it was read; run fmt again")
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "formatted", string(got))
	require.NoError(t, os.Remove(path))
	require.Error(t, rewrite(path, read, []byte("formatted")), "rewrite does not create a deleted file")
	require.NoFileExists(t, path)
	null, err := os.Stat(os.DevNull)
	require.NoError(t, err)
	require.ErrorContains(t, rewrite(os.DevNull, null, nil), "is not a regular file")
}
