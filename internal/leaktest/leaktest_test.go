package leaktest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/unimem"
)

// leakEnv has the tests of this package leak what it names, in a process that TestMain of this package ends.
const leakEnv = "ANEKIT_LEAKTEST_LEAKS"

func TestMain(m *testing.M) {
	Main(m, func() []string {
		if os.Getenv(leakEnv) == "more" {
			return []string{"what a package looks for"}
		}
		return nil
	})
}

// leak leaves what leakEnv names.
func leak(tb testing.TB) {
	file := func(dir string) {
		f, err := os.CreateTemp(dir, "left")
		require.NoError(tb, err)
		require.NoError(tb, f.Close())
	}
	switch os.Getenv(leakEnv) {
	case "file":
		file("")
	case "file of a worker": // that was killed, and left its folder in that of the process which started it
		file(filepath.Dir(os.TempDir()))
	case "nothing":
		fmt.Printf("TMPDIR is %s.\n", os.Getenv("TMPDIR"))
	case "gnustep":
		file(os.Getenv("TEMP"))
	case "goroutine":
		go func() { select {} }()
	case "block":
		_, err := unimem.Open(1 << 14)
		require.NoError(tb, err)
	case "mapping":
		b, err := unimem.Open(1 << 14)
		require.NoError(tb, err)
		_, err = unimem.Map(b)
		require.NoError(tb, err)
		require.NoError(tb, b.Close())
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
func run(t *testing.T, leaks string, args ...string) (output string, left []string, err error) {
	t.Helper()
	self, fault := os.Executable()
	require.NoError(t, fault)
	dir, fault := os.MkdirTemp("/tmp", "lt") // a short path: see ShortTempDir
	require.NoError(t, fault)
	defer func() { require.NoError(t, os.RemoveAll(dir)) }()
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append(os.Environ(), leakEnv+"="+leaks, "TMPDIR="+dir)
	out, err := cmd.CombinedOutput()
	left, fault = filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, fault)
	return string(out), left, err
}

// A run names what its tests leave, and removes their files.
func TestLeaksAreNamed(t *testing.T) {
	SkipEmulated(t)
	for leaks, named := range map[string]string{
		"file": "left", "gnustep": "left", "goroutine": "goroutine", "block": "Blocks:1", "mapping": "Mappings:1",
		"more": "what a package looks for",
	} {
		if leaks == "file" && host.Mac {
			continue // temporary files are in the user's folder
		}
		out, left, err := run(t, leaks, "-test.run=^Test(Leaks|Fails)$")
		require.Error(t, err, leaks)
		require.Contains(t, out, "tests leaked:", leaks)
		require.Contains(t, out, named, leaks)
		require.Empty(t, left, leaks)
	}
	out, left, err := run(t, "", "-test.run=^Test(Leaks|Fails)$")
	require.NoError(t, err, out)
	require.Empty(t, left)
}

// TMPDIR stays where a Mac's framework reads it.
func TestTempDir(t *testing.T) {
	SkipEmulated(t)
	out, _, err := run(t, "nothing", "-test.run=^TestLeaks$", "-test.v")
	require.NoError(t, err, out)
	kept := regexp.MustCompile(`TMPDIR is /tmp/lt\d+\.`).MatchString(out)
	require.Equal(t, host.Mac, kept, out)
}

// Files that a fuzzing worker leaves do not fail the run, and go.
func TestFilesOfFuzzingAreNoLeak(t *testing.T) {
	SkipEmulated(t)
	if host.Mac {
		t.Skip("temporary files are in the user's folder")
	}
	for _, leaks := range []string{"file", "file of a worker"} {
		out, left, err := run(t, leaks, "-test.run=^$", "-test.fuzz=^FuzzLeaks$", "-test.fuzztime=1x",
			"-test.fuzzcachedir="+t.TempDir())
		require.NoError(t, err, out)
		require.Empty(t, left)
	}
}

func TestCacheOfTheValidationLayerIsNoLeak(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"shader_validation_cache-1000.bin", "left"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	require.Equal(t, []string{filepath.Join(dir, "left")}, files(dir))
}

// What leaks fails a run whose tests pass, unless it goes while Main waits. Main does not wait after a failure.
func TestJudge(t *testing.T) {
	list := func(names ...string) func() []string { return func() []string { return names } }
	for _, c := range []struct {
		code, want int
		lists      []func() []string
		settled    []string // what is left after waiting
		waits      int
		names      string
	}{
		{0, 0, []func() []string{list(), list()}, nil, 0, ""},
		{0, 1, []func() []string{list(), list("a", "b")}, []string{"b"}, 1, "tests leaked: b\n"},
		{0, 0, []func() []string{list("a"), list()}, nil, 1, ""},
		{0, 1, []func() []string{list("a"), list("b")}, []string{"c"}, 2, "tests leaked: c\ntests leaked: c\n"},
		{2, 1, []func() []string{list("a")}, nil, 0, "tests leaked: a\n"},
		{2, 2, []func() []string{list()}, nil, 0, ""},
	} {
		waits, out := 0, strings.Builder{}
		got := judge(c.code, c.lists, func(func() []string) []string { waits++; return c.settled }, &out)
		require.Equal(t, c.want, got)
		require.Equal(t, c.waits, waits)
		require.Equal(t, c.names, out.String())
	}
}
