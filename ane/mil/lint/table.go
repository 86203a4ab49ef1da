package lint

import (
	"fmt"
	"strings"

	"github.com/anekit/anekit/ane/chip"
)

// Table returns the rules as a table in Markdown: the table of docs/LINT.md.
func Table() string {
	var b strings.Builder
	b.WriteString("| rule | severity | roads | what it finds | what happens then | what to do | source |\n")
	b.WriteString("|---|---|---|---|---|---|---|\n")
	cell := strings.NewReplacer("|", "\\|", "<", "&lt;", ">", "&gt;", "\n", " ")
	for _, r := range Rules() {
		fix := r.Fix
		if r.Fixable {
			fix += " (`--fix` does)"
		}
		fmt.Fprintf(&b, "| `%s` | %v | %s | %s | %s | %s | %s |\n", r.ID, r.Severity, r.RoadNames(),
			cell.Replace(r.Title),
			cell.Replace(r.Reason), cell.Replace(fix), cell.Replace(r.Source))
	}
	return b.String()
}

// RoadNames lists the roads of the rule: "all", or their names.
func (r *Rule) RoadNames() string {
	if len(r.Roads) == 0 || len(r.Roads) == len(chip.Roads()) {
		return "all"
	}
	var names []string
	for _, road := range r.Roads {
		names = append(names, road.String())
	}
	return strings.Join(names, ", ")
}
