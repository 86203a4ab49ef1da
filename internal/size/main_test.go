package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMeasure(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"a/a.go": "package a\n\nconst B, c = 1, 2\n\ntype D[T any] struct{ E int }\n\nfunc (D[T]) F() {}\n\nfunc (*g) H() {}\n\n" +
			"type g struct{}\n\nvar I int\n\nfunc J() {}\n",
		"a/a_test.go":       "package a\n",
		"a/a.s":             "// one\n// two\n",
		"a/internal/b.go":   "package b\n\nfunc K() {}\n",
		"a/testdata/c.go":   "no Go\n",
		"build/d.go":        "no Go\n",
		".hidden/e.go":      "no Go\n",
		"cmd/f/main.go":     "package main\n\nfunc main() {}\n",
		"cmd/f/other.txt":   "text\n",
		"cmd/f/second.go":   "package main\n",
		"internal/c/one.go": "package c\n",
	} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o600))
	}
	h, err := measure(root)
	require.NoError(t, err)
	require.Equal(t, &house{lines: 15 + 3 + 4 + 1, tests: 1, assembly: 2, public: 1, exported: 5, rooms: []room{
		{"a", 1, 15}, {"cmd/f", 2, 4}, {"a/internal", 1, 3}, {"internal/c", 1, 1}}}, h)
	var out strings.Builder
	h.print(&out)
	require.Contains(t, out.String(), "     23  lines of Go outside tests\n")
	require.Contains(t, out.String(), "      4      2  cmd/f\n")

	require.NoError(t, os.WriteFile(filepath.Join(root, "a", "broken.go"), []byte("package\n"), 0o600))
	_, err = measure(root)
	require.ErrorContains(t, err, "broken.go")
}
