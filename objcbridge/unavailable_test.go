package objcbridge

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/bridgedir"
	"github.com/anekit/anekit/internal/host"
)

// macAdvice is the advice for a Mac without Command Line Tools, in the errors and in
// build.sh.
var macAdvice = []string{"Command Line Tools", "xcode-select --install", "CGO_ENABLED=0", "libanebridge.dylib",
	"`make bridge`", "build/bridge", EnvDir, "beside", "folder bridge", "xattr -d com.apple.quarantine"}

func TestHowToGet(t *testing.T) {
	for _, part := range macAdvice {
		require.Contains(t, howToGetOn("darwin", false), part)
	}
	require.NotContains(t, howToGetOn("darwin", false), "\n")
	for _, text := range []string{howToGetOn("linux", false), howToGetOn("darwin", true)} {
		require.Contains(t, text, "`make bridge`")
		require.Contains(t, text, EnvDir)
		require.NotContains(t, text, "CGO_ENABLED")
	}
	require.Equal(t, howToGetOn(host.Name, builtin() != nil), howToGet())
}

// TestUnavailableSaysHowToGetIt: the errors of a binary without the bridge have the advice.
func TestUnavailableSaysHowToGetIt(t *testing.T) {
	if cannotLoad != "" {
		t.Skip(cannotLoad + "; " + howToLoad)
	}
	t.Setenv(EnvDir, t.TempDir())
	_, missing := find("", bridgedir.Host())
	require.ErrorContains(t, missing, howToGet())
	_, named := find(t.TempDir()+"/none", bridgedir.Host())
	require.ErrorContains(t, named, howToGet())
	empty := filepath.Join(t.TempDir(), LibraryName())
	require.NoError(t, os.WriteFile(empty, nil, 0o755))
	_, fake := load(empty)
	require.ErrorContains(t, fake, howToGet())
}
