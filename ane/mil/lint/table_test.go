package lint_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/chip"
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
	want := head + start + table()
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(want), 0o644))
		return
	}
	require.Equal(t, want, string(text), "go test ./ane/mil/lint -run TestTableOfRules -update writes it")
}

// table returns the rules as a table in Markdown.
func table() string {
	var b strings.Builder
	b.WriteString("| rule | severity | compilers | what it finds | what happens then | what to do | source |\n")
	b.WriteString("|---|---|---|---|---|---|---|\n")
	cell := strings.NewReplacer("|", "\\|", "<", "&lt;", ">", "&gt;", "\n", " ")
	for _, r := range lint.Rules() {
		fix, compilers := r.Fix, "all"
		if r.Fixable {
			fix += " (`--fix` does)"
		}
		if n := len(r.Compilers); n > 0 && n < len(chip.Compilers()) {
			compilers = strings.ReplaceAll(strings.Trim(fmt.Sprint(r.Compilers), "[]"), " ", ", ")
		}
		fmt.Fprintf(&b, "| `%s` | %v | %s | %s | %s | %s | %s |\n", r.ID, r.Severity, compilers, cell.Replace(r.Title),
			cell.Replace(r.Reason), cell.Replace(fix), cell.Replace(r.Source))
	}
	return b.String()
}
