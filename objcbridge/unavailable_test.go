package objcbridge

import (
	"testing"

	"github.com/anekit/anekit/internal/host"

	"github.com/stretchr/testify/require"
)

// macAdvice is the advice for a Mac without Command Line Tools, in the errors and in
// build.sh.
var macAdvice = []string{"Command Line Tools", "xcode-select --install", "CGO_ENABLED=0", "libanebridge.dylib",
	"`make bridge`", "build/bridge", EnvDir, "beside", "folder bridge"}

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
	_, missing := hostPlaces("").find()
	require.ErrorContains(t, missing, howToGet())
	_, named := hostPlaces(t.TempDir() + "/none").find()
	require.ErrorContains(t, named, howToGet())
	_, fake := load(put(t, t.TempDir(), LibraryName()))
	require.ErrorContains(t, fake, howToGet())
}
