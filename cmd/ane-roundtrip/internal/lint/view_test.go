package lint

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/lint"
)

// The caret stands under the place, also in long lines and after characters of several bytes.
func TestCaret(t *testing.T) {
	for _, c := range []struct {
		line string
		col  int
		want string
	}{
		{"    y = gelu(x = x);", 9, "    y = gelu(x = x);\n        ^\n"},
		{"\ty = gelu(x = x);\r", 2, "    y = gelu(x = x);\n    ^\n"},
		{"é = gelu", 6, "    é = gelu\n        ^\n"},
		{"abc", 4, "    abc\n       ^\n"},
		{"a\x00b", 2, "    a\uFFFDb\n     ^\n"},
		{"\xff", 1, "    \uFFFD\n    ^\n"},
	} {
		require.Equal(t, c.want, caret(c.line, c.col, 0), c.line)
	}
	long := strings.Repeat("x", 500) + "gelu" + strings.Repeat("y", 500)
	for _, width := range []int{0, 200, 106, 80, 40, 24} {
		lines := strings.Split(caret("\t"+long, 502, width), "\n")
		if width == 0 {
			width = 104
		}
		require.LessOrEqual(t, len(lines[0]), width)
		require.Greater(t, len(lines[0]), width-10)
		require.Equal(t, "gelu", lines[0][strings.Index(lines[1], "^"):][:4])
	}
}

// The name of a file in the line of a finding has line breaks escaped.
func TestFindingText(t *testing.T) {
	f := finding{Finding: &lint.Finding{File: "a\nb.mil", Pos: mil.Pos{Line: 3, Col: 4}, Rule: &lint.Rule{ID: "r"},
		Message: "wrong"}}
	require.Contains(t, f.text(0, nil, 0), `a\nb.mil:3:4: `)
}
