package objcbridge

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBuildWithoutLoader(t *testing.T) {
	if cannotLoad == "" {
		t.Skip("this build can load libraries; run with CGO_ENABLED=0 on Linux")
	}
	_, err := Open(Options{})
	_, fromInspect := Inspect(Options{})
	_, fromDir := Dir()
	for _, err := range []error{err, fromInspect, fromDir, Probe("")} {
		require.ErrorIs(t, err, ErrBridgeUnavailable)
		require.ErrorContains(t, err, "CGO_ENABLED=1")
	}
	_, err = openLibrary("any")
	require.ErrorIs(t, err, ErrBridgeUnavailable)
	require.Zero(t, findSymbol(1, "any"))
	require.EqualValues(t, KindMissing, call(1))
}

func TestLoadOnce(t *testing.T) {
	path := fakeBridge(t)
	first, err := load(path)
	require.NoError(t, err)
	again, err := load(path)
	require.NoError(t, err)
	require.Same(t, first, again)

	t.Setenv(EnvDir, filepath.Dir(path))
	require.NoError(t, Probe(""))
	dir, err := Dir()
	require.NoError(t, err)
	require.Equal(t, filepath.Dir(path), dir)
}

func TestLoadOtherVersion(t *testing.T) {
	path := compile(t, "version.so", "testdata/fakebridge.c", "-DFAKE_VERSION=7")
	_, err := Open(Options{Library: path})
	require.ErrorIs(t, err, ErrBridgeUnavailable)
	require.ErrorContains(t, err, path+" has version 7")
	require.ErrorContains(t, err, fmt.Sprintf("needs %d", abiVersion))
}

// TestLoadOtherVersionWithoutFunctions: a library of another version may lack
// functions; the error reports its version.
func TestLoadOtherVersionWithoutFunctions(t *testing.T) {
	source := filepath.Join(t.TempDir(), "future.c")
	require.NoError(t, os.WriteFile(source, []byte("unsigned aneb_version(void) { return 4000000000u; }\n"), 0o644))
	_, err := Open(Options{Library: compile(t, "future.so", source)})
	require.ErrorContains(t, err, "version 4000000000 ")
}

func TestLoadMissingSymbols(t *testing.T) {
	source := filepath.Join(t.TempDir(), "other.c")
	text := fmt.Sprintf("unsigned aneb_version(void) { return %d; }\n", abiVersion)
	require.NoError(t, os.WriteFile(source, []byte(text), 0o644))
	path := compile(t, "other.so", source)
	_, err := Open(Options{Library: path})
	require.ErrorIs(t, err, ErrBridgeUnavailable)
	require.ErrorContains(t, err, fmt.Sprintf("lacks %d functions, aneb_close first", len(new(library).functions())-1))
}

// TestLoadNoLibrary: a failure is not recorded, so a file that becomes a
// library can be loaded later.
func TestLoadNoLibrary(t *testing.T) {
	good := fakeBridge(t)
	path := filepath.Join(t.TempDir(), "late.so")
	_, err := load(path)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, os.WriteFile(path, []byte("a text, not a library\n"), 0o755))
	for range 2 {
		_, err = Open(Options{Library: path})
		require.ErrorIs(t, err, ErrBridgeUnavailable)
		require.ErrorContains(t, err, path)
		require.False(t, strings.Contains(err.Error(), "\n"))
	}
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.Mkdir(path, 0o755))
	_, err = load(path)
	require.ErrorIs(t, err, ErrBridgeUnavailable)
	require.NoError(t, os.Remove(path))

	content, err := os.ReadFile(good)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, content, 0o755))
	_, err = load(path)
	require.NoError(t, err)
}
