package house

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// On macOS the workflow shows what the machine can, also after a failed test, and keeps the reports.
func TestWorkflowKeepsReportsOfMacs(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", ".github", "workflows", "test.yml"))
	require.NoError(t, err)
	_, job, found := strings.Cut(string(text), "\n  macos:\n")
	require.True(t, found)
	always := regexp.MustCompile(`(?m)^      - if: always\(\)\n        (.+)$`).FindAllStringSubmatch(job, -1)
	steps := ""
	for _, m := range always {
		steps += m[1] + "\n"
	}
	for _, want := range []string{`check --report build/reports/`, `info --report build/reports/`,
		`check --gpu --report build/reports/`, `uses: actions/upload-artifact@`} {
		require.Contains(t, steps, want)
	}
	require.Contains(t, job, "path: build/reports")
}

// A Mac has no stand-ins, so tests of them are skipped there for a reason that macskips does not know: the step with
// macrules is for Linux.
func TestRulesOfMacsAreStepOfLinux(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "Makefile"))
	require.NoError(t, err)
	_, recipe, found := strings.Cut(string(text), "\nchecks:\n")
	require.True(t, found)
	recipe, _, _ = strings.Cut(recipe, "\n")
	require.Contains(t, recipe, "$(if $(filter linux/%,$(HERE)),mac)")
	require.NotRegexp(t, `\bmac$`, recipe)
}
