package lint

import (
	"fmt"
	"strings"

	"github.com/anekit/anekit/ane/chip"
)

// Table returns the rules as a table in Markdown: the table of docs/LINT.md.
func Table() string {
	var b strings.Builder
	b.WriteString("| rule | severity | compilers | what it finds | what happens then | what to do | source |\n")
	b.WriteString("|---|---|---|---|---|---|---|\n")
	cell := strings.NewReplacer("|", "\\|", "<", "&lt;", ">", "&gt;", "\n", " ")
	for _, r := range Rules() {
		fix := r.Fix
		if r.Fixable {
			fix += " (`--fix` does)"
		}
		fmt.Fprintf(&b, "| `%s` | %v | %s | %s | %s | %s | %s |\n", r.ID, r.Severity, r.CompilerNames(),
			cell.Replace(r.Title),
			cell.Replace(r.Reason), cell.Replace(fix), cell.Replace(r.Source))
	}
	return b.String()
}

// CompilerNames lists the compilers of the rule: "all", or their names.
func (r *Rule) CompilerNames() string {
	if len(r.Compilers) == 0 || len(r.Compilers) == len(chip.Compilers()) {
		return "all"
	}
	var names []string
	for _, compiler := range r.Compilers {
		names = append(names, compiler.String())
	}
	return strings.Join(names, ", ")
}
