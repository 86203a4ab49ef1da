// Package guestbuild builds the WebAssembly guests of tests again and compares them with the binaries that stand beside
// their sources.
package guestbuild

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// tool builds the sources of a suffix.
type tool struct {
	command string
	version string   // of the toolchain that built the binaries beside the sources
	needs   []string // other commands
	debian  string   // the packages that have them
	args    func(source, binary string) []string
}

// tools returns the tool of each suffix.
func tools() map[string]tool {
	return map[string]tool{
		".wat": {"wat2wasm", "1.0.32", nil, "wabt", func(source, binary string) []string {
			return []string{"--output=" + binary, source}
		}},
		".c": {"clang-14", "14.0.6", []string{"wasm-ld-14"}, "clang-14 and lld-14", func(source, to string) []string {
			return []string{"--target=wasm32", "-std=c11", "-Os", "-Wall", "-Wextra", "-Werror", "-nostdlib",
				"-ffreestanding", "-mbulk-memory", "-Wl,--no-entry", "-Wl,-z,stack-size=65536", "-Wl,--strip-all",
				"-o", to, source}
		}},
	}
}

var number = regexp.MustCompile(`\d+\.\d+\.\d+`)

// Same builds a source again and requires the bytes of the binary beside it, which has the suffix .wasm. It skips where
// the tool is missing, and where it has another version than the one that built the binary. With ANEKIT_GUESTS=write it
// writes the binary instead.
func Same(t *testing.T, source string) {
	t.Helper()
	suffix := filepath.Ext(source)
	tool, ok := tools()[suffix]
	require.True(t, ok, "no tool builds %s", source)
	for _, command := range append([]string{tool.command}, tool.needs...) {
		if _, err := exec.LookPath(command); err != nil {
			t.Skipf("no %s in PATH to build %s again: install the Debian packages %s", command, source, tool.debian)
		}
	}
	said, err := exec.Command(tool.command, "--version").CombinedOutput()
	require.NoError(t, err)
	if v := number.FindString(string(said)); v != tool.version {
		t.Skipf("%s here is %s; %s was built by %s, so the bytes may differ", tool.command, v, source, tool.version)
	}
	binary := strings.TrimSuffix(source, suffix) + ".wasm"
	built := filepath.Join(t.TempDir(), "built.wasm")
	out, err := exec.Command(tool.command, tool.args(source, built)...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	fresh, err := os.ReadFile(built)
	require.NoError(t, err)
	if os.Getenv("ANEKIT_GUESTS") == "write" {
		require.NoError(t, os.WriteFile(binary, fresh, 0o644))
	}
	kept, err := os.ReadFile(binary)
	require.NoError(t, err)
	require.True(t, bytes.Equal(fresh, kept), "%s is not what %s builds of %s: run the test with ANEKIT_GUESTS=write",
		binary, tool.command, source)
}
