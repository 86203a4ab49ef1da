package terminal_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/terminal"
)

func TestFold(t *testing.T) {
	require.Equal(t, "one two\n  three", terminal.Fold("one two three", 8, 2))
	require.Equal(t, "one two three", terminal.Fold("one two three", 0, 2))
	require.Equal(t, "  one\n  two\nthree", terminal.Fold("  one two\nthree", 6, 2))
	require.Equal(t, "a\nmuchtoolong\nb", terminal.Fold("a muchtoolong b", 5, 0), "a word stays whole")
	require.Equal(t, "µµ µµ", terminal.Fold("µµ µµ", 5, 0), "columns, not bytes")
	require.Equal(t, "two  blanks  stay", terminal.Fold("two  blanks  stay", 40, 0))
	require.Empty(t, terminal.Fold("", 5, 0))
}

func TestWidth(t *testing.T) {
	t.Setenv("COLUMNS", "")
	require.Zero(t, terminal.Width(&bytes.Buffer{}), "not a terminal")
	t.Setenv("COLUMNS", "72")
	require.Equal(t, 72, terminal.Width(&bytes.Buffer{}))
	t.Setenv("COLUMNS", "3")
	require.Equal(t, 20, terminal.Width(&bytes.Buffer{}))
	for _, other := range []string{"-1", "many"} {
		t.Setenv("COLUMNS", other)
		require.Zero(t, terminal.Width(&bytes.Buffer{}))
	}
}

// Letters of East Asia take two columns.
func TestWideLetters(t *testing.T) {
	require.Equal(t, 7, terminal.Length("a漢字bc"))
	require.Equal(t, "漢字漢字", terminal.Shorten("漢字漢字", 8))
	for n := 1; n < 12; n++ {
		for _, text := range []string{"漢字漢字漢字", "abcdefghijkl", "a漢字漢字漢字漢"} {
			require.LessOrEqual(t, terminal.Length(terminal.Shorten(text, n)), n, "%q in %d", text, n)
		}
	}
	require.Equal(t, "one 漢字\n  two", terminal.Fold("one 漢字 two", 9, 2))
}
