package terminal

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestExcerpt(t *testing.T) {
	long := strings.Repeat("a", 300) + "X" + strings.Repeat("b", 300)
	for name, c := range map[string]struct {
		src     string
		pos     [2]int
		columns int
		want    string
	}{
		"plain":              {"one\ntwo three\nfour", [2]int{2, 5}, 0, "two three\n    ^"},
		"first column":       {"one\r\n", [2]int{1, 1}, 0, "one\n^"},
		"after the end":      {"one\ntwo", [2]int{2, 4}, 0, "two\n   ^"},
		"empty line":         {"one\n", [2]int{2, 1}, 0, "\n^"},
		"whole line":         {"one\ntwo\n", [2]int{2, 0}, 0, "two"},
		"no such line":       {"one\ntwo\n", [2]int{4, 1}, 0, ""},
		"unknown":            {"one", [2]int{}, 0, ""},
		"tab":                {"\tab\tc", [2]int{1, 5}, 0, "    ab  c\n        ^"},
		"tab itself":         {"a\tb", [2]int{1, 2}, 0, "a   b\n ^"},
		"byte order mark":    {"\uFEFFone", [2]int{1, 2}, 0, "one\n ^"},
		"two columns wide":   {"世界 x", [2]int{1, 8}, 0, "世界 x\n     ^"},
		"inside a character": {"a世b", [2]int{1, 4}, 0, "a世b\n ^"},
		"two bytes":          {"éé x", [2]int{1, 6}, 0, "éé x\n   ^"},
		"combining":          {"e\u0301 x", [2]int{1, 5}, 0, "e\u0301 x\n  ^"},
		"direction":          {"a\u202eb", [2]int{1, 5}, 0, "a\uFFFDb\n  ^"},
		"control":            {"a\x00\x1b[31mb", [2]int{1, 8}, 0, "a\uFFFD\uFFFD[31mb\n       ^"},
		"not UTF-8":          {"a\xffb", [2]int{1, 3}, 0, "a\uFFFDb\n  ^"},
		"long, in between": {long, [2]int{1, 301}, 47, "..." + strings.Repeat("a", 20) + "X" + strings.Repeat("b", 19) +
			"...\n" +
			strings.Repeat(" ", 23) + "^"},
		"long, at the start": {long, [2]int{1, 1}, 47, strings.Repeat("a", 40) + "...\n^"},
		"long, at the end": {long, [2]int{1, 602}, 47, "..." + strings.Repeat("b", 40) + "\n" + strings.Repeat(" ", 43) +
			"^"},
	} {
		require.Equal(t, c.want, Excerpt([]byte(c.src), c.pos[0], c.pos[1], c.columns), name)
	}
}

// FuzzExcerpt checks that an excerpt is valid UTF-8 of at most two lines and no wider than
// asked, for any text and place.
func FuzzExcerpt(f *testing.F) {
	f.Add([]byte("program(1.3) {\n\tfunc 世界\xff\x00\n"), 2, 7, 30)
	f.Add([]byte(strings.Repeat("世\t", 200)), 1, 300, 0)
	f.Fuzz(func(t *testing.T, src []byte, line, col, columns int) {
		columns = max(-1, min(columns, 300))
		out := Excerpt(src, line, col, columns)
		if !utf8.ValidString(out) || strings.Count(out, "\n") > 1 || strings.ContainsAny(out, "\t\x00\x1b\r") {
			t.Fatalf("%q", out)
		}
		limit := max(columns, minWidth)
		if columns <= 0 {
			limit = excerptWidth
		}
		text, caret, _ := strings.Cut(out, "\n")
		wide := Length(text)
		if wide > limit || len(caret) > limit+1 {
			t.Fatalf("%d and %d columns of %d: %q", wide, len(caret), limit, out)
		}
	})
}
