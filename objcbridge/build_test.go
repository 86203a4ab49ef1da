package objcbridge

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Scripts that replace the programs of a Mac.
const (
	darwin  = `case $1 in -s) echo Darwin ;; *) echo arm64 ;; esac`
	freebsd = `echo FreeBSD`

	noTools = `echo "xcode-select: error: unable to get active developer directory" >&2; exit 2`
	tools   = `echo /Library/Developer/CommandLineTools`

	// After an update of the system xcode-select still prints the folder, but it is missing.
	noClang = `echo "xcrun: error: invalid active developer path (/Library/Developer/CommandLineTools)" >&2; exit 1`
	// clang writes its arguments to the file after -o.
	clang = `[ "$1" = --find ] && exec echo /Library/Developer/CommandLineTools/usr/bin/clang
		all="$*"; while [ "$1" != -o ]; do shift; done; echo "$all" >"$2"`
	dialog = `echo "a dialog opens" >&2; exit 99`
)

// mac returns the environment of a machine with these programs first in PATH. cc is a stub there.
func mac(t *testing.T, programs map[string]string) []string {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no shell here: build.sh needs sh")
	}
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755))
	}
	write("cc", noClang)
	for name, text := range programs {
		write(name, text)
	}
	env := []string{"PATH=" + dir + string(os.PathListSeparator) + os.Getenv("PATH")}
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); name != "PATH" && !strings.HasPrefix(name, "MAKE") && name != "MFLAGS" {
			env = append(env, v)
		}
	}
	return env
}

func runIn(env []string, name string, args ...string) (string, error) {
	c := exec.Command(name, args...)
	c.Env = env
	out, err := c.CombinedOutput()
	return string(out), err
}

// TestMacWithoutTools: everything that needs the tools reports how to install them and how to do
// without.
func TestMacWithoutTools(t *testing.T) {
	for name, c := range map[string]struct {
		selects, xcrun, reason string
	}{
		"never installed":     {noTools, dialog, "unable to get active developer directory"},
		"lost with an update": {tools, noClang, "invalid active developer path"},
	} {
		t.Run(name, func(t *testing.T) {
			env := mac(t, map[string]string{"uname": darwin, "xcode-select": c.selects, "xcrun": c.xcrun})
			dir := t.TempDir()
			calls := [][]string{{"sh", "build.sh", "--tools"}, {"sh", "build.sh", dir}}
			if _, err := exec.LookPath("make"); err == nil {
				calls = append(calls, []string{"make", "-C", "..", "needs"}, []string{"make", "-C", "..", "bridge"})
			}
			for _, call := range calls {
				out, err := runIn(env, call[0], call[1:]...)
				require.Error(t, err, "%s: %s", call, out)
				for _, part := range append([]string{c.reason}, macAdvice...) {
					require.Contains(t, out, part, "%s", call)
				}
				require.NotContains(t, out, "a dialog opens", "%s: xcrun was called", call)
			}
			left, err := os.ReadDir(dir)
			require.NoError(t, err)
			require.Empty(t, left)
		})
	}
}

func TestMacWithTools(t *testing.T) {
	env := mac(t, map[string]string{"uname": darwin, "xcode-select": tools, "xcrun": clang})
	out, err := runIn(env, "sh", "build.sh", "--tools")
	require.NoError(t, err, out)
	require.Empty(t, out)
	if _, err := exec.LookPath("make"); err == nil {
		out, err = runIn(env, "make", "-s", "-C", "..", "needs")
		require.NoError(t, err, out)
		require.Empty(t, out)
	}
	dir := t.TempDir()
	out, err = runIn(env, "sh", "build.sh", dir)
	require.NoError(t, err, out)
	library, err := os.ReadFile(filepath.Join(dir, "libanebridge.dylib"))
	require.NoError(t, err)
	require.Contains(t, string(library), "-dynamiclib")
	require.Contains(t, string(library), "program.m")
}

// TestStaticChecksOnMacs: names that only Linux uses are no faults there.
func TestStaticChecksOnMacs(t *testing.T) {
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("no make here")
	}
	for here, lenient := range map[string]bool{"darwin/arm64": true, "darwin/amd64": true, "linux/amd64": false} {
		out, err := runIn(mac(t, nil), "make", "-s", "-n", "-C", "..", "static", "HERE="+here)
		require.NoError(t, err, out)
		require.Contains(t, out, "build/bin/staticcheck")
		require.Equal(t, lenient, strings.Contains(out, "-U1000"), "%s: %s", here, out)
	}
}

// TestToolsElsewhere: other systems need no tools.
func TestToolsElsewhere(t *testing.T) {
	env := mac(t, map[string]string{"uname": freebsd, "xcode-select": dialog, "xcrun": dialog})
	out, err := runIn(env, "sh", "build.sh", "--tools")
	require.NoError(t, err, out)
	require.Empty(t, out)
	out, err = runIn(env, "sh", "build.sh", t.TempDir())
	require.Error(t, err)
	require.Contains(t, out, "this is FreeBSD")
}

func TestBuildUsage(t *testing.T) {
	env := mac(t, map[string]string{"uname": darwin, "xcode-select": dialog, "xcrun": dialog})
	for _, args := range [][]string{{}, {"--sanitize"}, {"--tools", "dir"}, {"--tools", "--sanitize"}, {"--other"},
		{"a", "b"}} {
		out, err := runIn(env, "sh", append([]string{"build.sh"}, args...)...)
		require.Error(t, err, "%s", args)
		require.Contains(t, out, "usage: build.sh OUTDIR", "%s", args)
		require.NotContains(t, out, "a dialog opens")
	}
}
