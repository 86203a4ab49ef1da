package mil

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
		pos     Pos
		columns int
		want    string
	}{
		"plain":              {"one\ntwo three\nfour", Pos{2, 5}, 0, "two three\n    ^"},
		"first column":       {"one\r\n", Pos{1, 1}, 0, "one\n^"},
		"after the end":      {"one\ntwo", Pos{2, 4}, 0, "two\n   ^"},
		"empty line":         {"one\n", Pos{2, 1}, 0, "\n^"},
		"whole line":         {"one\ntwo\n", Pos{2, 0}, 0, "two"},
		"no such line":       {"one\ntwo\n", Pos{4, 1}, 0, ""},
		"unknown":            {"one", Pos{}, 0, ""},
		"tab":                {"\tab\tc", Pos{1, 5}, 0, "    ab  c\n        ^"},
		"tab itself":         {"a\tb", Pos{1, 2}, 0, "a   b\n ^"},
		"byte order mark":    {"\uFEFFone", Pos{1, 2}, 0, "one\n ^"},
		"two columns wide":   {"世界 x", Pos{1, 8}, 0, "世界 x\n     ^"},
		"inside a character": {"a世b", Pos{1, 4}, 0, "a世b\n ^"},
		"two bytes":          {"éé x", Pos{1, 6}, 0, "éé x\n   ^"},
		"combining":          {"e\u0301 x", Pos{1, 5}, 0, "e\u0301 x\n  ^"},
		"direction":          {"a\u202eb", Pos{1, 5}, 0, "a\uFFFDb\n  ^"},
		"control":            {"a\x00\x1b[31mb", Pos{1, 8}, 0, "a\uFFFD\uFFFD[31mb\n       ^"},
		"not UTF-8":          {"a\xffb", Pos{1, 3}, 0, "a\uFFFDb\n  ^"},
		"long, in between": {long, Pos{1, 301}, 47, "..." + strings.Repeat("a", 20) + "X" + strings.Repeat("b", 19) +
			"...\n" +
			strings.Repeat(" ", 23) + "^"},
		"long, at the start": {long, Pos{1, 1}, 47, strings.Repeat("a", 40) + "...\n^"},
		"long, at the end": {long, Pos{1, 602}, 47, "..." + strings.Repeat("b", 40) + "\n" + strings.Repeat(" ", 43) +
			"^"},
	} {
		require.Equal(t, c.want, Excerpt([]byte(c.src), c.pos, c.columns), name)
	}
}

// FuzzExcerpt checks that an excerpt is valid UTF-8 of at most two lines and no wider than
// asked, for any text and place.
func FuzzExcerpt(f *testing.F) {
	f.Add([]byte("program(1.3) {\n\tfunc 世界\xff\x00\n"), 2, 7, 30)
	f.Add([]byte(strings.Repeat("世\t", 200)), 1, 300, 0)
	f.Fuzz(func(t *testing.T, src []byte, line, col, columns int) {
		columns = max(-1, min(columns, 300))
		out := Excerpt(src, Pos{line, col}, columns)
		if !utf8.ValidString(out) || strings.Count(out, "\n") > 1 || strings.ContainsAny(out, "\t\x00\x1b\r") {
			t.Fatalf("%q", out)
		}
		limit := max(columns, leastExcerpt)
		if columns <= 0 {
			limit = ExcerptWidth
		}
		text, caret, _ := strings.Cut(out, "\n")
		wide := 0
		for _, r := range text {
			wide += columnsOf(r)
		}
		if wide > limit || len(caret) > limit+1 {
			t.Fatalf("%d and %d columns of %d: %q", wide, len(caret), limit, out)
		}
	})
}
