package bridgetest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/objcbridge"
)

func TestNamedFolder(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(objcbridge.EnvDir, dir)
	require.Empty(t, Missing(), "with a named folder no test is skipped")
	for _, name := range []string{objcbridge.LibraryName(), Framework, Surface} {
		_, err := find(plain)
		require.ErrorContains(t, err, name)
		require.ErrorContains(t, err, "make bridge")
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o644))
	}
	found, err := find(plain)
	require.NoError(t, err)
	require.Equal(t, dir, found)
}

func TestSources(t *testing.T) {
	root, err := sources()
	require.NoError(t, err)
	for _, name := range []string{script, "src/bridge.h", "standin/standin.h"} {
		_, err := os.Stat(filepath.Join(root, name))
		require.NoError(t, err)
	}
	a, err := fingerprint(root, plain)
	require.NoError(t, err)
	b, err := fingerprint(root, sanitized)
	require.NoError(t, err)
	require.NotEqual(t, a, b)
}

func TestMissingIsOneLine(t *testing.T) {
	t.Setenv(objcbridge.EnvDir, "")
	require.NotContains(t, Missing(), "\n")
}

// TestBuild: the folder built on this machine has all libraries.
func TestBuild(t *testing.T) {
	require.NoError(t, complete(Build(t)))
}

func TestBuildSanitized(t *testing.T) {
	require.NoError(t, complete(BuildSanitized(t)))
	path, _ := Sanitizer()
	_, err := os.Stat(path)
	require.NoError(t, err)
}
