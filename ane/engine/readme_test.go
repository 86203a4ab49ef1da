package engine_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/leaktest"
)

// The program in the README compiles unchanged and prints its documented output.
func TestReadmeProgram(t *testing.T) {
	if testing.Short() || leaktest.Emulated() {
		t.Skip("builds a program for this machine")
	}
	effort.NeedsFull(t, "a build")
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(readme), "```go\n")
	require.True(t, found)
	source, _, found := strings.Cut(rest, "```")
	require.True(t, found)
	file := filepath.Join(t.TempDir(), "main.go")
	require.NoError(t, os.WriteFile(file, []byte(source), 0o600))
	cmd := exec.CommandContext(t.Context(), "go", "run", "-ldflags=-s -w", file)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=", "GOARCH=")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, "32\n", string(out))
}
