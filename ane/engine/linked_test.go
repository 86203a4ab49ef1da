package engine_test

import (
	"os/exec"
	"path/filepath"
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
	text, err = exec.CommandContext(t.Context(), "go", "tool", "nm", program).CombinedOutput()
	require.NoError(t, err, "%s", text)
	symbols := strings.ToLower(string(text))
	const private = " t github.com/anekit/anekit/internal/engine/"
	require.True(t, strings.Contains(symbols, private+"soft.(*engine)"), "soft is linked")
	without := []string{private + "broker.(*engine)", private + "standin.(*framework)", private + "emulate.(*engine)"}
	if !host.Apple {
		without = append(without, private+"apple.(*engine)", " t github.com/anekit/anekit/ane/mil/lint.(*run)",
			" t regexp.compile", " t encoding/json.unmarshal")
	}
	for _, name := range without {
		require.False(t, strings.Contains(symbols, name), "linked:%s", name)
	}
}
