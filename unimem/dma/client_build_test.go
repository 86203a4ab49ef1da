package dma

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/leaktest"
)

// Programs that take the place of a Mac's: they append their arguments to the file calls. A compiler also makes the
// file after -o, codesign reads nothing.
var macPrograms = map[string]string{
	"uname": `echo Darwin`,
	"xcrun": `case "$*" in
	*--show-sdk-path) echo /sdk ;;
	*--find*) for tool; do :; done; echo "$BIN/$tool" ;;
	*) shift 2; exec "$BIN/$@" ;;
	esac`,
	"iig":      `echo "iig $*" >>"$BIN/calls"`,
	"clang++":  `echo "clang++ $*" >>"$BIN/calls"; while [ "$1" != -o ]; do shift; done; echo >"$2"`,
	"swiftc":   `echo "swiftc $*" >>"$BIN/calls"; while [ "$1" != -o ]; do shift; done; echo >"$2"`,
	"plutil":   `echo "plutil $*" >>"$BIN/calls"`,
	"codesign": `echo "codesign $*" >>"$BIN/calls"`,
}

// builtOnMac runs dext/build.sh with those programs, and returns their calls.
func builtOnMac(t *testing.T, env ...string) []string {
	t.Helper()
	leaktest.SkipEmulated(t)
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no shell here: build.sh needs sh")
	}
	bin := t.TempDir()
	for name, text := range macPrograms {
		require.NoError(t, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755))
	}
	c := exec.CommandContext(t.Context(), "sh", "dext/build.sh", t.TempDir())
	c.Env = append(os.Environ(), "BIN="+bin, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	c.Env = append(c.Env, env...)
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return strings.Split(strings.TrimSpace(read(t, filepath.Join(bin, "calls"))), "\n")
}

// DriverKit loads arm64e only, and every build has a version of its own, without which the system keeps the extension
// that is installed.
func TestBuildOfTheExtension(t *testing.T) {
	calls := builtOnMac(t, "SIGN=me")
	versions := map[string]int{}
	compiled := 0
	for _, call := range calls {
		switch words := strings.Fields(call); words[0] {
		case "iig", "clang++":
			compiled++
			require.Contains(t, call, "-target arm64e-apple-driverkit22.0 ")
		case "plutil":
			require.Equal(t, []string{"-replace", "CFBundleVersion", "-string"}, words[1:4])
			require.Regexp(t, `\.dext/Info\.plist$`, words[5])
			versions[words[4]]++
		}
	}
	require.Equal(t, 2+2*2+1, compiled, "two headers, two sources and what iig made, the link")
	require.Len(t, versions, 1)
	for version, n := range versions {
		require.Equal(t, 1, n)
		require.Regexp(t, regexp.MustCompile(`^[1-9]\d{0,3}\.\d{1,4}\.\d{1,4}$`), version, "as the kernel reads versions")
	}
	plist, sign := -1, -1
	for i, call := range calls {
		if strings.HasPrefix(call, "plutil") {
			plist = i
		}
		if strings.HasPrefix(call, "codesign") && strings.Contains(call, ".dext") && sign < 0 {
			require.Less(t, plist, i, "a signature seals Info.plist")
			sign = i
		}
	}
	require.Positive(t, sign)

	for _, call := range builtOnMac(t, "VERSION=7.1") {
		if strings.HasPrefix(call, "plutil") {
			require.Contains(t, call, " -string 7.1 ")
		}
	}
}
