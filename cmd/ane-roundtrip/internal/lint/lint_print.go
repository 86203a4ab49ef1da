package lint

import (
	"fmt"
	"strings"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/lint"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/page"
)

// print writes the findings with their source lines, and a summary.
func (d *lintDetails) print(a *cli.App) error {
	for _, f := range d.Files {
		lines := strings.Split(string(f.text), "\n")
		for i := range f.findings {
			if err := Finding(a, &f.findings[i], len(d.Chips), lines); err != nil {
				return err
			}
		}
		if f.Changed {
			if err := a.Printf("%s: fixed\n", cli.Visible(f.File)); err != nil {
				return err
			}
		}
	}
	summary := fmt.Sprintf("%s: %s, %s, %s", cli.Counted(len(d.Files), "file", "files"),
		cli.Counted(d.Errors, "error", "errors"), cli.Counted(d.Warnings, "warning", "warnings"), cli.Counted(d.Notes, "note",
			"notes"))
	if d.Fixed > 0 {
		summary += fmt.Sprintf("; %d fixed", d.Fixed)
	}
	if d.Fixable > 0 {
		summary += fmt.Sprintf("; --fix fixes %d", d.Fixable)
	}
	return a.Printf("%s\n", summary)
}

// Finding writes one finding: its place and message, the line with a caret, and what to do.
func Finding(a *cli.App, f *lint.Finding, chips int, lines []string) error {
	shown := *f
	shown.File = cli.Visible(f.File)
	head := strings.TrimSuffix(shown.String(), "; "+f.Fix)
	where := []string{}
	if len(f.Chips) < chips {
		where = append(where, strings.Join(cli.Names(f.Chips), ", "))
	}
	if len(f.Roads) > 0 && (len(f.Roads) > 1 || f.Roads[0] != chip.InMemory) {
		where = append(where, strings.Join(cli.Names(f.Roads), ", "))
	}
	if len(where) > 0 {
		head += " (" + strings.Join(where, "; ") + ")"
	}
	if err := a.Printf("%s\n", cli.OneLine(head)); err != nil {
		return err
	}
	if f.Pos.Known() && f.Pos.Line <= len(lines) {
		if text := Caret(lines[f.Pos.Line-1], f.Pos, page.Width(a.Out)); text != "" {
			if _, err := fmt.Fprint(a.Out, text); err != nil {
				return err
			}
		}
	}
	return a.Printf("    %s Fix: %s\n", f.Rule.Reason, cli.OneLine(f.Fix))
}

// Columns of a line of a program below its finding.
const (
	excerptIndent = 4
	leastIndented = 24 // narrower lines have no indent
)

// Caret returns a line of the source without its indent, cut around the column to a width of the output, with a caret
// under the place. A width of 0 is that of mil.Excerpt.
func Caret(line string, pos mil.Pos, width int) string {
	line = strings.TrimSuffix(strings.TrimPrefix(line, "\uFEFF"), "\r")
	if pos.Col < 1 || pos.Col > len(line)+1 {
		return ""
	}
	body := strings.TrimLeft(line[:pos.Col-1], " \t") + line[pos.Col-1:]
	indent := excerptIndent
	if width > 0 && width < leastIndented {
		indent = 0
	}
	text := mil.Excerpt([]byte(body), mil.Pos{Line: 1, Col: pos.Col - len(line) + len(body)}, max(width-indent, 0))
	margin := strings.Repeat(" ", indent)
	return margin + strings.ReplaceAll(text, "\n", "\n"+margin) + "\n"
}

// lintRules prints one rule, or all.
func lintRules(a *cli.App, args []string, o lintOptions) error {
	rules := lint.Rules()
	switch {
	case len(args) > 0:
		return cli.Badf("--list and --explain check no program; leave %s out", args[0])
	case o.sarif || o.fix:
		return cli.Badf("--list and --explain check no program; leave --sarif and --fix out")
	case o.list && o.explain != "":
		return cli.Badf("--list prints every rule, --explain one; give one of them")
	case o.explain != "":
		r, err := lint.Lookup(o.explain)
		if err != nil {
			return cli.Badf("--explain: %w", err)
		}
		rules = []lint.Rule{r}
	}
	d := lintDetails{Chips: []string{}, Roads: []string{}, Files: []lintedFile{}}
	for _, r := range rules {
		roads := r.Roads
		if len(roads) == 0 {
			roads = chip.Roads()
		}
		d.Rules = append(d.Rules, lintedRule{r.ID, r.Severity.String(), cli.Names(roads), r.Title, r.Reason, r.Fix,
			r.Source,
			r.Fixable})
	}
	report := cli.NewReport(nil)
	report.Details = d
	a.Deliver(report)
	switch {
	case a.JSON:
		return nil
	case o.explain != "":
		return d.Rules[0].print(a, rules[0])
	}
	w := page.NewTable("rule", "severity", "fix", "what it finds")
	for _, r := range rules {
		w.Row(r.ID, r.Severity.String(), map[bool]string{true: "--fix", false: "-"}[r.Fixable], r.Title)
	}
	if err := a.Table(w); err != nil {
		return err
	}
	return a.Printf("%s; --explain RULE prints one\n", cli.Counted(len(rules), "rule", "rules"))
}

// print writes one rule.
func (r lintedRule) print(a *cli.App, rule lint.Rule) error {
	fix := r.Fix
	if r.Fixable {
		fix += "; --fix does"
	}
	return a.Printf("%s (%s; roads: %s)\n%s\n%s\nFix: %s\nSource: %s\n", r.Rule, r.Severity, rule.RoadNames(), r.Title,
		r.Reason, fix, r.Source)
}
