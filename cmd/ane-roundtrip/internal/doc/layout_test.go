package doc

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

const long = "memory of both processes grew by 90.9 MiB while 256.0 MiB of tensors were bound and evaluated"

// texts are cells of words.
func texts(all ...string) (cells []Cell) {
	for _, s := range all {
		cells = append(cells, Words("%s", s))
	}
	return cells
}

func written(t *testing.T, table *Table, width int) string {
	var out bytes.Buffer
	require.NoError(t, table.Print(&out, width))
	return out.String()
}

// weights is a table of three tensors in two files, 62 columns wide.
func weights() *Table {
	table := NewTable("", "tensor", "type", "bytes", "file")
	table.Row(texts("model.layers.10.self_attn.weight", "BF16", "64", "one.safetensors")...)
	table.Row(texts("model.layers.11.self_attn.weight", "BF16", "128", "one.safetensors")...)
	table.Row(texts("model.norm", "BF16", "4", "two.safetensors")...)
	return table
}

// A table that fits, and one of a file or a pipe, stays as it is.
func TestTablesThatFitStay(t *testing.T) {
	for _, width := range []int{0, 62} {
		out := written(t, weights(), width)
		require.True(t, strings.HasPrefix(out, "tensor                            type  bytes  file\n"), "%s", out)
		require.Equal(t, 4, strings.Count(out, "\n"))
		require.NotContains(t, out, "…")
	}
}

// A column with one value for all rows moves to a line above.
func TestEqualCellsStandAbove(t *testing.T) {
	require.Equal(t, `type: BF16
tensor                            bytes  file
model.layers.10.self_attn.weight  64     one.safetensors
model.layers.11.self_attn.weight  128    one.safetensors
model.norm                        4      two.safetensors
`, written(t, weights(), 61))
	one := NewTable("", "tensor", "type")
	one.Row(texts("a", "BF16")...)
	require.True(t, strings.HasPrefix(written(t, one, 5), "a\n"), "a single row has no column for all rows")
}

// Rows of different groups become tables of their own.
func TestGroupsStandApart(t *testing.T) {
	table := weights()
	table.Group(3)
	require.Equal(t, `type: BF16, file: one.safetensors
tensor                            bytes
model.layers.10.self_attn.weight  64
model.layers.11.self_attn.weight  128

file: two.safetensors
tensor      bytes
model.norm  4
`, written(t, table, 50))
}

// The widest of the columns that may be shortened gives way first, in the middle; others do not.
func TestLongCellsLoseTheirMiddle(t *testing.T) {
	table := weights()
	table.Shorten(0)
	require.Equal(t, `type: BF16
tensor                bytes  file
model.laye…tn.weight  64     one.safetensors
model.laye…tn.weight  128    one.safetensors
model.norm            4      two.safetensors
`, written(t, table, 44))
	table = weights()
	table.Shorten(0, 3)
	out := written(t, table, 36)
	require.Contains(t, out, "model.…weight  64     one.saf…ensors\n", "%s", out)
}

// Words of a last column are folded rather than names shortened.
func TestWordsFoldBeforeNamesAreShortened(t *testing.T) {
	table := NewTable("", "check", "detail")
	table.Shorten(0)
	table.Row(texts("memory/neighbours/of-a-model", "some words that are more than fit beside the name")...)
	table.Row(texts("b", "c")...)
	out := written(t, table, 40)
	require.Contains(t, out, "memory/neighbours/of-a-model\n    some words")
}

// Two columns of words become one, so that a row is not a list of its cells.
func TestColumnsOfWordsBecomeOne(t *testing.T) {
	table := NewTable("", "engine", "available", "what", "why not")
	table.Row(texts("apple", "no", "the engine of Apple's chips in itself", "it needs another system than this one")...)
	table.Row(texts("soft", "yes", "software", "")...)
	require.Equal(t, `engine  available  what; why not
apple   no         the engine of Apple's chips in
                   itself; it needs another system
                   than this one
soft    yes        software
`, written(t, table, 50))
}

// Colors change no layout.
func TestPaintKeepsLayout(t *testing.T) {
	mark := func(c Cell, text string) string {
		if c.Class != "" {
			return "<" + text + ">"
		}
		return text
	}
	for _, width := range []int{0, 40, 20} {
		table := NewTable("", "a", "status", "b")
		row := texts("something", "pass", "a detail of several words")
		row[1] = row[1].As("status pass")
		table.Row(row...)
		painted := table.text(width, mark)
		require.Contains(t, painted, "<pass>")
		require.Equal(t, written(t, table, width), strings.NewReplacer("<", "", ">", "").Replace(painted))
	}
}

// A table that is printed row by row has the columns of the whole.
func TestTableContinues(t *testing.T) {
	var out strings.Builder
	w := NewTable("", "name", "figure", "")
	w.Room("a longer name", "10")
	for _, name := range []string{"one", "a longer name"} {
		w.Row(texts(name, "10", "x")...)
		require.NoError(t, w.Continue(&out, 0))
	}
	require.Equal(t, "name           figure\none            10      x\na longer name  10      x\n", out.String())
}

// No line is wider than the width, unless a word is, and no word is broken.
func TestTableFitsWidth(t *testing.T) {
	for _, first := range []int{4, 30, 60, 78} {
		table := NewTable("", "check", "status", "detail")
		table.Row(texts(strings.Repeat("x", first), "fail", long)...)
		table.Row(texts("short", "pass", "fits")...)
		table.Row(texts("rest", "", "")...)
		for _, width := range []int{0, 20, 40, 80, 120, 200} {
			var out bytes.Buffer
			require.NoError(t, table.Print(&out, width))
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
