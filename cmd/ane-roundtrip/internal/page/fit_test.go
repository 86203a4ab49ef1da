package page_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/page"
)

func written(t *testing.T, table *page.Table, width int) string {
	var out bytes.Buffer
	require.NoError(t, table.Write(&out, width))
	return out.String()
}

// weights is a table of three tensors in two files, 62 columns wide.
func weights() *page.Table {
	table := page.NewTable("tensor", "type", "bytes", "file")
	table.Row("model.layers.10.self_attn.weight", "BF16", "64", "one.safetensors")
	table.Row("model.layers.11.self_attn.weight", "BF16", "128", "one.safetensors")
	table.Row("model.norm", "BF16", "4", "two.safetensors")
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
	one := page.NewTable("tensor", "type")
	one.Row("a", "BF16")
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
	table := page.NewTable("check", "detail")
	table.Shorten(0)
	table.Row("memory/neighbours/of-a-model", "some words that are more than fit beside the name")
	table.Row("b", "c")
	out := written(t, table, 40)
	require.Contains(t, out, "memory/neighbours/of-a-model\n    some words")
}

// Colors stay with their columns.
func TestPaintFollowsItsColumn(t *testing.T) {
	table := weights()
	table.Paint = func(column int, cell string) string {
		if column == 2 {
			return "<" + cell + ">"
		}
		return cell
	}
	require.Contains(t, written(t, table, 61), " <64> ")
}

// Two columns of words become one, so that a row is not a list of its cells.
func TestColumnsOfWordsBecomeOne(t *testing.T) {
	table := page.NewTable("engine", "available", "what", "why not")
	table.Row("apple", "no", "the engine of Apple's chips in itself", "it needs another system than this one")
	table.Row("soft", "yes", "software", "")
	require.Equal(t, `engine  available  what; why not
apple   no         the engine of Apple's chips in
                   itself; it needs another system
                   than this one
soft    yes        software
`, written(t, table, 50))
}
