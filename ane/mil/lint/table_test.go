package lint_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil/lint"
)

var update = flag.Bool("update", false, "rewrite the table of docs/LINT.md")

// The table of docs/LINT.md is that of the rules.
func TestTableOfRules(t *testing.T) {
	const page, start = "../../../docs/LINT.md", "<!-- rules -->\n"
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	head, _, ok := strings.Cut(string(text), start)
	require.True(t, ok, "the page has the mark %s", start)
	want := head + start + lint.Table()
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(want), 0o644))
		return
	}
	require.Equal(t, want, string(text), "go test ./ane/mil/lint -run TestTableOfRules -update writes it")
}
