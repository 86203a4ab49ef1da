package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Scripts that run on a Mac do not depend on the engine that auto opens there: each command that opens
// an engine names it. Exceptions are info, and check without arguments, which passes on every engine.
func TestScriptsNameTheirEngine(t *testing.T) {
	scripts, err := filepath.Glob("../../testdata/script/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, scripts)
	named := 0
	for _, script := range scripts {
		text, err := os.ReadFile(script)
		require.NoError(t, err)
		if strings.HasPrefix(string(text), "[!broker] skip") {
			continue
		}
		for line := range strings.Lines(string(text)) {
			words := strings.Fields(line)
			if i := slices.Index(words, "status"); i < 0 || strings.HasPrefix(line, "#") {
				continue
			} else {
				words = words[i+1:]
			}
			switch named++; {
			case slices.Contains(words, "--engine"), slices.Contains(words, "--require-ane"), slices.Contains(words,
				"--help"), slices.Contains(words, "--version"), slices.Contains(words, "--plan"),
				slices.Contains(words, "--render"), slices.Contains(words, "--show-tokens"):
			case len(words) > 1 && slices.Contains([]string{"man", "fmt", "inspect", "lint", "cost", "weights", "probe",
				"completion", "help",
				"schema", "__complete"}, words[1]):
			case len(words) > 2 && words[1] == "bench" && words[2] == "weights": // which opens the software engine
			case slices.Equal(words, []string{"0"}), slices.Contains(words, "info"):
			case len(words) > 0 && words[0] == "2" && !slices.Contains(words, "run") &&
				!slices.Contains(words, "image"):
				// The command finds wrong usage before it opens an engine.
			default:
				t.Errorf("%s: %q opens any engine of the machine; give --engine", script, strings.TrimSpace(line))
			}
		}
	}
	require.Greater(t, named, 50)
}
