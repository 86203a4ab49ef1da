package engine_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/host"
)

// A program that opens an engine by a constant name links only what that name can open: the compiler inlines Open. The
// decoder of JSON, regular expressions and the checks of lint stood in every program too.
func TestLinked(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program for this machine: run without -short")
	}
	program := filepath.Join(t.TempDir(), "convolution.exe")
	text, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../examples/convolution").CombinedOutput()
	require.NoError(t, err, "%s", text)
	text, err = exec.CommandContext(t.Context(), "go", "tool", "nm", "-size", program).CombinedOutput()
	require.NoError(t, err, "%s", text)
	symbols := strings.ToLower(string(text))
	const private = " t github.com/anekit/anekit/internal/engine/"
	require.True(t, strings.Contains(symbols, private+"soft.(*engine)"), "soft is linked")
	without := []string{private + "broker.(*engine)", private + "standin.(*framework)", private + "emulate.(*engine)",
		" t github.com/klauspost/cpuid", " t net.(*"}
	if !host.Apple {
		without = append(without, private+"apple.(*engine)", " t github.com/anekit/anekit/ane/mil/lint.(*run)",
			" t regexp.compile", " t encoding/json.(*encodestate)", " t log/slog.(*logger)")
	}
	rows := regexp.MustCompile(`(\d+) t github\.com/anekit/anekit/internal/ops\.init\n`).FindStringSubmatch(symbols)
	require.NotNil(t, rows, "the table of operators is made when the program starts")
	size, err := strconv.Atoi(rows[1])
	require.NoError(t, err)
	require.Less(t, size, 80_000, "code of the table of operators, 132 KB with each argument copied in place")
	for _, name := range without {
		require.False(t, strings.Contains(symbols, name), "linked:%s", name)
	}
	// 7.6 MB on linux/amd64. What is compiled is more: the engines that Open reaches by other names.
	info, err := os.Stat(program)
	require.NoError(t, err)
	require.Less(t, info.Size(), int64(8_000_000), "bytes of a program with a convolution")
	text, err = exec.CommandContext(t.Context(), "go", "list", "-deps", "../../examples/convolution").CombinedOutput()
	require.NoError(t, err, "%s", text)
	packages := strings.Fields(string(text))
	require.LessOrEqual(t, len(packages), 150, "packages that a first build compiles; it was 205, then 189")
	for _, heavy := range []string{"log/slog", "math/big", "encoding/gob", "runtime/metrics", "net", "crypto/sha256",
		"github.com/anekit/anekit/internal/engine/broker/server"} {
		require.NotContains(t, packages, heavy)
	}
}
