package leaktest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/internal/require"
	"github.com/anekit/anekit/unimem"
)

// leakEnv has the tests of this package leak what it names, in a process that TestMain of this package ends.
const leakEnv = "ANEKIT_LEAKTEST_LEAKS"

func TestMain(m *testing.M) {
	leaktest.Main(m, func() []string {
		if os.Getenv(leakEnv) == "more" {
			return []string{"what a package looks for"}
		}
		return nil
	})
}

// leak leaves what leakEnv names.
func leak(tb testing.TB) {
	switch os.Getenv(leakEnv) {
	case "file":
		_, err := os.CreateTemp("", "left")
		require.NoError(tb, err)
	case "goroutine":
		go func() { select {} }()
	case "block":
		_, err := unimem.Open(1 << 14)
		require.NoError(tb, err)
	}
}

func TestLeaks(t *testing.T) { leak(t) }

// TestFails keeps Main from waiting for what leaks: a run that has failed is looked at once.
func TestFails(t *testing.T) {
	if os.Getenv(leakEnv) != "" {
		t.Fail()
	}
}

func FuzzLeaks(f *testing.F) {
	f.Add(0)
	f.Fuzz(func(t *testing.T, _ int) { leak(t) })
}

// run runs this test binary in a folder of its own for temporary files, and reports what that keeps.
func run(t *testing.T, leaks string, args ...string) (output string, err error, left []string) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	dir, err := os.MkdirTemp("", "") // a shorter path than that of t.TempDir; see ShortTempDir
	require.NoError(t, err)
	defer func() { require.NoError(t, os.RemoveAll(dir)) }()
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append(os.Environ(), leakEnv+"="+leaks, "TMPDIR="+dir)
	out, runErr := cmd.CombinedOutput()
	left, err = filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	return string(out), runErr, left
}

// A run names what its tests leave, and removes their files.
func TestLeaksAreNamed(t *testing.T) {
	leaktest.SkipEmulated(t)
	for leaks, named := range map[string]string{
		"file": "left", "goroutine": "goroutine", "block": "Block", "more": "what a package looks for",
	} {
		out, err, left := run(t, leaks, "-test.run=^Test(Leaks|Fails)$")
		require.Error(t, err, leaks)
		require.Contains(t, out, "tests leaked:", leaks)
		require.Contains(t, out, named, leaks)
		require.Empty(t, left, leaks)
	}
	out, err, left := run(t, "", "-test.run=^Test(Leaks|Fails)$")
	require.NoError(t, err, out)
	require.Empty(t, left)
}

// Files that a fuzzing worker leaves do not fail the run, and go.
func TestFilesOfFuzzingAreNoLeak(t *testing.T) {
	leaktest.SkipEmulated(t)
	out, err, left := run(t, "file", "-test.run=^$", "-test.fuzz=^FuzzLeaks$", "-test.fuzztime=1x",
		"-test.fuzzcachedir="+t.TempDir())
	require.NoError(t, err, out)
	require.Empty(t, left)
}
