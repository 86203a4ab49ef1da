package objcbridge

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/bridgedir"
)

// TestSearch: the path in Options.Library wins, and what is missing there or in the folder ends the search.
func TestSearch(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	beside := filepath.Join(root, LibraryName())
	require.NoError(t, os.WriteFile(beside, nil, 0o755))
	here := func() (string, error) { return filepath.Join(root, LibraryName()), nil }
	found, err := find("", bridgedir.Places{Executable: here})
	require.NoError(t, err)
	require.Equal(t, beside, found)

	gone := filepath.Join(root, "gone")
	found, err = find(beside, bridgedir.Places{Dir: gone, Executable: here})
	require.NoError(t, err)
	require.Equal(t, beside, found)

	_, err = find("", bridgedir.Places{Dir: gone, Executable: here})
	missing(t, err, EnvDir)
	_, err = find(gone, bridgedir.Places{Dir: root, Executable: here})
	missing(t, err, "Options.Library")

	_, err = find("", bridgedir.Places{Executable: func() (string, error) { return "", nil }})
	require.ErrorIs(t, err, ErrBridgeUnavailable)
	require.ErrorContains(t, err, "make bridge")
}

// missing requires the error of a missing path that the named setting gives.
func missing(t *testing.T, err error, setting string) {
	t.Helper()
	require.ErrorIs(t, err, ErrBridgeUnavailable)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, setting)
	require.ErrorContains(t, err, "gone")
}

func TestProbeAndDirWithoutBridge(t *testing.T) {
	t.Setenv(EnvDir, "")
	require.ErrorIs(t, Probe(""), ErrBridgeUnavailable)
	_, err := Dir()
	require.ErrorIs(t, err, ErrBridgeUnavailable)
}
