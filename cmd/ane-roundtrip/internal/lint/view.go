package lint

import (
	"fmt"
	"io"
	"strings"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/mil/lint"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/doc"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/terminal"
)

// print writes the findings with their source lines, and a summary.
func (d *details) print(a *cli.App) error {
	var out strings.Builder
	for _, f := range d.Files {
		lines := strings.Split(f.text, "\n")
		for _, one := range f.Findings {
			one.File = f.name
			out.WriteString(one.text(len(d.Chips), lines, terminal.Width(a.Out)))
		}
		if f.Changed {
			fmt.Fprintf(&out, "%s: fixed\n", cli.Visible(f.File))
		}
	}
	summary := fmt.Sprintf("%s: %s, %s, %s", cli.Counted(len(d.Files), "file", "files"),
		cli.Counted(d.Errors, "error", "errors"), cli.Counted(d.Warnings, "warning", "warnings"),
		cli.Counted(d.Notes, "note", "notes"))
	if d.Fixed > 0 {
		summary += fmt.Sprintf("; %d fixed", d.Fixed)
	}
	if d.Fixable > 0 {
		summary += fmt.Sprintf("; --fix fixes %d", d.Fixable)
	}
	if _, err := io.WriteString(a.Out, out.String()); err != nil {
		return err
	}
	return a.Printf("%s\n", summary)
}

// text is a finding with its place, the line with a caret, and what to do, in a program that was checked for a number of
// chips.
func (f finding) text(chips int, lines []string, width int) string {
	head := *f.Finding
	head.File, head.Fix = cli.Visible(f.File), ""
	text := head.String()
	var where []string
	if n := len(f.Chips); n > 0 && n < chips {
		where = append(where, strings.Join(cli.Names(f.Chips), ", "))
	}
	if n := len(f.Compilers); n > 1 || n == 1 && f.Compilers[0] != chip.InMemory {
		where = append(where, strings.Join(cli.Names(f.Compilers), ", "))
	}
	if len(where) > 0 {
		text += " (" + strings.Join(where, "; ") + ")"
	}
	text = terminal.Fold(text, width, 2) + "\n"
	if f.Col > 0 && f.Line <= len(lines) {
		text += caret(lines[f.Line-1], f.Col, width)
	}
	return text + terminal.Fold("    "+f.Reason+" Fix: "+f.Fix, width, 2) + "\n" +
		terminal.Fold("    Evidence: "+f.Source, width, 2) + "\n"
}

// caret returns a line of the source without its indent, cut around a column to a width of the output, with a caret
// under the column. A width of 0 is that of terminal.Excerpt.
func caret(line string, col, width int) string {
	const margin = "    "
	indent := min(len(line)-len(strings.TrimLeft(line, " \t")), col-1)
	text := terminal.Excerpt([]byte(line[indent:]), 1, col-indent, max(width-len(margin), 0))
	return margin + strings.ReplaceAll(text, "\n", "\n"+margin) + "\n"
}

// show shows one rule, or all.
func (j *job) show(args []string) error {
	rules := lint.Rules()
	switch {
	case len(args) > 0:
		return cli.Badf("--list and --explain check no program; leave %s out", args[0])
	case j.sarif || j.fix:
		return cli.Badf("--list and --explain check no program; leave --sarif and --fix out")
	case j.list && j.explain != "":
		return cli.Badf("--list prints every rule, --explain one; give one of them")
	case j.explain != "":
		r, err := lint.Lookup(j.explain)
		if err != nil {
			return cli.Badf("--explain: %w", err)
		}
		rules = []lint.Rule{r}
	}
	for i := range rules {
		if len(rules[i].Compilers) == 0 {
			rules[i].Compilers = chip.Compilers()
		}
	}
	j.app.Show(details{Chips: []chip.Chip{}, Compilers: []chip.Compiler{}, Files: []file{}, Rules: rules}, View)
	return nil
}

// View lays out rules: one with all that is known of it, or a table.
func View(d *doc.Doc, v *doc.Value) {
	fixes := func(r *doc.Value, yes, no string) doc.Cell {
		if r.At("fixable").Yes() {
			no = yes
		}
		return doc.Words("%s", no)
	}
	rules := v.Items("rules")
	if len(rules) == 1 {
		r := rules[0]
		d.Section("Rule", nil,
			doc.Text(r.Code("rule"), " (", r.Text("severity"), "; compilers: ", r.Joined(", ", "roads"), ")"),
			doc.Text(r.Text("title")), doc.Text(r.Text("reason")), doc.Remarks{
				doc.Named("Fix", r.Text("fix"), fixes(r, "; --fix does", "")), doc.Named("Source", r.Text("source"))})
		return
	}
	t := doc.NewTable("Rules", "rule", "severity", "fix", ">what it finds")
	for _, r := range rules {
		t.Row(r.Code("rule"), r.Text("severity"), fixes(r, "--fix", "-"), r.Text("title"))
	}
	d.Section("Rules", nil, t, doc.Text(doc.Counted(v.At("rules").Count("", ""), "rule", "rules"),
		"; --explain RULE prints one"))
}
