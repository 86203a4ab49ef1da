//go:build cgo

package standin

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/bridgetest"
	"github.com/anekit/anekit/internal/engine/apple"
	"github.com/anekit/anekit/unimem"
)

// options are those of every Start in this package's tests: a process has only
// one framework.
func options(tb testing.TB) Options {
	return Options{Reveal: true, Dir: bridgetest.Build(tb)}
}

// started returns the framework and checks that nothing is alive in it before
// and after the test. It skips the test if the libraries cannot be built.
func started(tb testing.TB) *Framework {
	f, err := Start(options(tb))
	require.NoError(tb, err)
	require.Empty(tb, await.Left(f.Leftovers))
	tb.Cleanup(func() {
		f.ClearFaults()
		f.PurgeAll()
		require.Empty(tb, await.Left(f.Leftovers))
		require.Zero(tb, f.Counts().Cached)
		require.Empty(tb, f.server.programs)
		require.Empty(tb, f.server.requests)
	})
	return f
}

func TestStartIsOncePerProcess(t *testing.T) {
	f := started(t)
	again, err := Start(options(t))
	require.NoError(t, err)
	require.Same(t, f, again)
	require.NoError(t, Probe())
	for name, change := range map[string]func(*Options){
		"another profile":  func(o *Options) { o.Profile = "15" },
		"something lacks":  func(o *Options) { o.Missing = []string{"_ANEClient"} },
		"another encoding": func(o *Options) { o.Changed = []string{"_ANERequest validate v@:"} },
		"another pool":     func(o *Options) { o.Pool = filepath.Join(t.TempDir(), "pool") },
		"another folder":   func(o *Options) { o.Dir = t.TempDir() },
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t)
			change(&o)
			f, err := Start(o)
			require.Nil(t, f)
			require.ErrorIs(t, err, ane.ErrInUse)
			require.ErrorContains(t, err, "another process")
		})
	}
}

// TestFoldersWithoutTheLibraries: load rejects folders without the libraries. It
// loads nothing, so libraries loaded before do not matter.
func TestFoldersWithoutTheLibraries(t *testing.T) {
	dir := bridgetest.Build(t)
	for name, c := range map[string]struct {
		files map[string]string // name to content; "=" means the real library
		blame string
	}{
		"empty":                   {nil, surfaceFile},
		"no framework":            {map[string]string{surfaceFile: "="}, frameworkFile},
		"no surfaces":             {map[string]string{frameworkFile: "="}, surfaceFile},
		"surfaces are no library": {map[string]string{surfaceFile: "text", frameworkFile: "="}, surfaceFile},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			for file, content := range c.files {
				if content == "=" {
					require.NoError(t, os.Symlink(filepath.Join(dir, file), filepath.Join(folder, file)))
				} else {
					require.NoError(t, os.WriteFile(filepath.Join(folder, file), []byte(content), 0o600))
				}
			}
			_, err := load(folder)
			require.ErrorIs(t, err, ane.ErrUnavailable)
			require.ErrorContains(t, err, filepath.Join(folder, c.blame))
			require.ErrorContains(t, err, "make bridge")
		})
	}
}

func TestControlsRejectInvalidArguments(t *testing.T) {
	f := started(t)
	const evaluate = "evaluateWithQoS:options:request:error:"
	require.NoError(t, f.Fault(evaluate, NoError, 1, 8))
	require.NoError(t, f.Fault(evaluate, NoError, -1, 8))
	require.NoError(t, f.Fault(evaluate, NoError, 0, 0))
	require.ErrorIs(t, f.Fault("noSuchMethod", No, 1, 0), ane.ErrName)
	require.ErrorIs(t, f.Fault(evaluate+"\x00", No, 1, 0), ane.ErrName)
	require.ErrorIs(t, f.Fault(evaluate, FaultKind(99), 1, 0), ane.ErrName)
	require.ErrorIs(t, f.Fault("hexStringIdentifier", Locked, 1, 0), ane.ErrName)
	require.ErrorIs(t, f.Fault(evaluate, No, -2, 0), ane.ErrLength)
	require.ErrorIs(t, f.FailSurface("IOSurfaceFly", 1), ane.ErrName)
	require.ErrorIs(t, f.FailSurface("IOSurfaceLock", -1), ane.ErrLength)
	require.Zero(t, f.Instances("NoSuchClass"))
	require.Zero(t, f.Instances("a\x00b"))
	f.ReleaseHangs()
	for _, function := range failing {
		require.NoError(t, f.FailSurface(function, 1))
		require.NoError(t, f.FailSurface(function, 0))
	}
}

func TestSurfaceCountsFollowBlocks(t *testing.T) {
	f := started(t)
	b, err := unimem.Open(1, f.Surfaces())
	require.NoError(t, err)
	c := f.SurfaceCounts()
	require.EqualValues(t, 1, c.Surfaces)
	require.EqualValues(t, 1, c.Locks)
	require.EqualValues(t, b.Size(), c.Bytes)
	require.Len(t, f.Leftovers(), 4, "objects, surfaces, locks, bytes")
	require.NoError(t, b.Close())
}

func TestFrameworksThatWereNeverStarted(t *testing.T) {
	for _, f := range []*Framework{nil, {}} {
		require.ErrorIs(t, f.Fault("validate", No, 1, 0), ane.ErrUnavailable)
		require.ErrorIs(t, f.FailSurface("IOSurfaceLock", 1), ane.ErrUnavailable)
		f.ReleaseHangs()
		f.ClearFaults()
		f.PurgeAll()
		require.Zero(t, f.Counts())
		require.Zero(t, f.SurfaceCounts())
		require.Zero(t, f.Instances("_ANERequest"))
		require.Empty(t, f.Leftovers())
		_, err := unimem.Open(1, f.Surfaces())
		require.ErrorIs(t, err, unimem.ErrOption)
		_, err = apple.Open(t.Context(), f.Config())
		require.ErrorIs(t, err, ane.ErrUnavailable)
	}
}
