package page_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/page"
)

const long = "memory of both processes grew by 90.9 MiB while 256.0 MiB of tensors were bound and evaluated"

func TestFold(t *testing.T) {
	require.Equal(t, "one two\n  three", page.Fold("one two three", 8, 2))
	require.Equal(t, "one two three", page.Fold("one two three", 0, 2))
	require.Equal(t, "  one\n  two\nthree", page.Fold("  one two\nthree", 6, 2))
	require.Equal(t, "a\nmuchtoolong\nb", page.Fold("a muchtoolong b", 5, 0), "a word stays whole")
	require.Equal(t, "µµ µµ", page.Fold("µµ µµ", 5, 0), "columns, not bytes")
	require.Equal(t, "two  blanks  stay", page.Fold("two  blanks  stay", 40, 0))
	require.Empty(t, page.Fold("", 5, 0))
}

func TestInert(t *testing.T) {
	for in, want := range map[string]string{
		"": "",
		"two\nlines\tand é 漢 👩\u200d🚀\u00a0\ufffd": "two\nlines\tand é 漢 👩\u200d🚀\u00a0\ufffd",
		"\x1b[31mred\x1b[0m\r\a":                   `\x1b[31mred\x1b[0m\r\a`,
		"\x1b]0;title\x07\x7f\x00":                 `\x1b]0;title\a\x7f\x00`,
		"\u009b2J and \x9b2J":                      `\u009b2J and \x9b2J`,
	} {
		require.Equal(t, want, page.Inert(in))
	}
}

// No line is wider than the width, unless a word is, and no word is broken.
func TestTableFitsWidth(t *testing.T) {
	for _, first := range []int{4, 30, 60, 78} {
		table := page.NewTable("check", "status", "detail")
		table.Row(strings.Repeat("x", first), "fail", long)
		table.Row("short", "pass", "fits")
		table.Row("rest")
		for _, width := range []int{0, 20, 40, 80, 120, 200} {
			var out bytes.Buffer
			require.NoError(t, table.Write(&out, width))
			for line := range strings.Lines(out.String()) {
				line = strings.TrimRight(line, "\n")
				require.Equal(t, strings.TrimRight(line, " "), line)
				if width > 0 && first <= width {
					require.LessOrEqual(t, utf8.RuneCountInString(line), width, "%q", line)
				}
			}
			words := strings.Fields(out.String())
			for _, word := range strings.Fields(long) {
				require.Contains(t, words, word)
			}
			if width == 0 {
				require.Equal(t, 4, strings.Count(out.String(), "\n"))
			}
		}
	}
}

func TestPaintKeepsLayout(t *testing.T) {
	for _, width := range []int{0, 40, 20} {
		plain, painted := page.NewTable("a", "status", "b"), page.NewTable("a", "status", "b")
		painted.Paint = func(column int, cell string) string {
			if column == 1 && cell == "pass" {
				return "<" + cell + ">"
			}
			return cell
		}
		var one, two bytes.Buffer
		for _, table := range []*page.Table{plain, painted} {
			table.Row("something", "pass", "a detail of several words")
		}
		require.NoError(t, plain.Write(&one, width))
		require.NoError(t, painted.Write(&two, width))
		require.Contains(t, two.String(), "<pass>")
		require.Equal(t, one.String(), strings.NewReplacer("<", "", ">", "").Replace(two.String()))
	}
}

func TestWidth(t *testing.T) {
	t.Setenv("COLUMNS", "")
	require.Zero(t, page.Width(&bytes.Buffer{}), "not a terminal")
	t.Setenv("COLUMNS", "72")
	require.Equal(t, 72, page.Width(&bytes.Buffer{}))
	t.Setenv("COLUMNS", "3")
	require.Equal(t, 20, page.Width(&bytes.Buffer{}))
	for _, other := range []string{"-1", "many"} {
		t.Setenv("COLUMNS", other)
		require.Zero(t, page.Width(&bytes.Buffer{}))
	}
}

// A table that is printed row by row has the columns of the whole.
func TestTableContinues(t *testing.T) {
	var out strings.Builder
	w := page.NewTable("name", "figure", "")
	w.Room("a longer name", "10")
	for _, name := range []string{"one", "a longer name"} {
		w.Row(name, "10", "x")
		require.NoError(t, w.Continue(&out, 0))
	}
	require.Equal(t, "name           figure\none            10      x\na longer name  10      x\n", out.String())
}
