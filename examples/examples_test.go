package examples

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/engine"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// machine matches lines that name the chip, the system and reasons of the machine.
var machine = regexp.MustCompile(`(?m)^(chip|system|because) .*$`)

// Each example exits with status 0 and prints its output.txt.
func TestEachExamplePrintsItsOutput(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	leaktest.SkipEmulated(t)
	names := sources(t)
	require.GreaterOrEqual(t, len(names), 8)
	if !effort.Full() {
		names = []string{"picture"}
	}
	bin := built(t.Context(), t, names)
	soft := bestEngine() == engine.Soft
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), filepath.Join(bin, name))
			cmd.Dir = t.TempDir() // must stay empty, see below
			said, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", said)
			left, err := os.ReadDir(cmd.Dir)
			require.NoError(t, err)
			require.Empty(t, left, "an example writes no files by default")
			if !soft || !host.ShareByFD {
				return // output.txt is from the software engine on Linux
			}
			want, err := os.ReadFile(filepath.Join(name, "output.txt"))
			require.NoError(t, err)
			require.Equal(t, normal(want), normal(said))
		})
	}
	t.Run("picture -out", func(t *testing.T) {
		t.Parallel()
		file := filepath.Join(t.TempDir(), "edge.png")
		said, err := exec.CommandContext(t.Context(), filepath.Join(bin, "picture"), "-out", file).CombinedOutput()
		require.NoError(t, err, "%s", said)
		png, err := os.ReadFile(file)
		require.NoError(t, err)
		require.True(t, bytes.HasPrefix(png, []byte("\x89PNG")))
	})
}

// The tutorial shows code and output of the examples.
func TestTutorialMatchesExamples(t *testing.T) {
	text := page(t, "TUTORIAL.md")
	var code strings.Builder
	for _, name := range sources(t) {
		source, err := read(filepath.Join(name, "main.go"))
		require.NoError(t, err)
		code.WriteString(source)
	}
	blocks := fenced(text, "go")
	require.NotEmpty(t, blocks)
	for _, block := range blocks {
		require.Contains(t, code.String(), block, "no example has this code of the tutorial")
	}
	runs := 0
	for _, block := range fenced(text, "console") {
		command, said, _ := strings.Cut(block, "\n")
		name, ok := strings.CutPrefix(command, "$ go run ./examples/")
		if !ok {
			continue
		}
		want, err := os.ReadFile(filepath.Join(name, "output.txt"))
		require.NoError(t, err)
		require.Equal(t, normal(want), normal([]byte(said)), command)
		runs++
	}
	require.GreaterOrEqual(t, runs, 2, "the tutorial shows the output of its programs")
}

// built builds the examples into a temporary folder.
func built(ctx context.Context, t *testing.T, names []string) string {
	t.Helper()
	bin := t.TempDir()
	args := []string{"build", "-ldflags=-s -w", "-o", bin + string(filepath.Separator)}
	for _, name := range names {
		args = append(args, "./"+name)
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	said, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", said)
	return bin
}

// sources are the names of the examples.
func sources(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob("*/main.go")
	require.NoError(t, err)
	for i := range names {
		names[i] = filepath.Dir(names[i])
	}
	return names
}

// bestEngine is the engine that Auto opens on this machine.
func bestEngine() string {
	for _, s := range engine.Probe() {
		if s.Name == engine.Apple && s.Available {
			return engine.Apple
		}
	}
	return engine.Soft
}

// normal removes what differs between machines and working directories: names of the
// machine, the folders before examples/NAME, and the line ends of Windows.
func normal(said []byte) string {
	text := strings.ReplaceAll(string(said), "\r\n", "\n")
	text = strings.ReplaceAll(text, "github.com/anekit/anekit/", "") // with -trimpath
	text = strings.ReplaceAll(text, "examples/", "")
	return strings.TrimSpace(machine.ReplaceAllString(text, "$1"))
}

// page returns the text of a file of docs.
func page(t *testing.T, name string) string {
	t.Helper()
	text, err := read(filepath.Join("..", "docs", name))
	require.NoError(t, err)
	return text
}

// read returns the text of a file with the line ends of Unix.
func read(name string) (string, error) {
	text, err := os.ReadFile(name)
	return strings.ReplaceAll(string(text), "\r\n", "\n"), err
}

// fenced returns the blocks between ```kind and ```.
func fenced(text, kind string) (blocks []string) {
	for {
		_, rest, ok := strings.Cut(text, "\n```"+kind+"\n")
		if !ok {
			return blocks
		}
		block, rest, _ := strings.Cut(rest, "\n```\n")
		blocks, text = append(blocks, block), rest
	}
}
