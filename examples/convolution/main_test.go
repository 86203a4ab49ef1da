package main

import (
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/leaktest"
)

// A test run that leaks fails.
func TestMain(m *testing.M) { leaktest.Main(m) }

func TestItRuns(t *testing.T) { main() }

// The program for a convolution stays short.
func TestItFitsOnAPage(t *testing.T) {
	source, err := os.ReadFile("main.go")
	require.NoError(t, err)
	file, err := parser.ParseFile(token.NewFileSet(), "main.go", source, parser.ImportsOnly)
	require.NoError(t, err)
	require.Len(t, file.Imports, 4)
	_, program, _ := strings.Cut(string(source), "\npackage main")
	require.LessOrEqual(t, strings.Count(program, "\n"), 25, "every line from package to the last brace")
}

// The README shows this program.
func TestReadmeShowsThisProgram(t *testing.T) {
	source, err := os.ReadFile("main.go")
	require.NoError(t, err)
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	_, program, _ := strings.Cut(string(source), "\npackage main")
	require.Contains(t, string(readme), "package main"+strings.TrimRight(program, "\n"))
}
