package cost

import (
	"fmt"
	"strings"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/page"
)

// print writes the totals, then the tables.
func (d *costDetails) print(a *cli.App) error {
	if err := a.Printf("%s", d.totals()); err != nil {
		return err
	}
	operators := page.NewTable("operator", "name", "us", "evidence", "bound", "Mmac", "weights", "tasks")
	operators.Shorten(0, 1)
	for _, r := range d.Operators {
		operators.Row(r.Operator, cli.Visible(r.Name), microseconds(r.Time.Value), r.Time.Evidence, r.Bound,
			cli.OrDash(r.MACs > 0, fmt.Sprintf("%.4g", r.MACs/1e6)), cli.OrDash(r.Weights > 0, fmt.Sprint(r.Weights)),
			cli.OrDash(r.Tasks > 0, fmt.Sprint(r.Tasks)))
	}
	all := []*page.Table{page.NewTable(), operators}
	if len(d.Parts) > 0 {
		parts := page.NewTable("part of the call", "us", "evidence", "bound")
		for _, p := range d.Parts {
			parts.Row(p.Name, microseconds(p.Time.Value), p.Time.Evidence, p.Bound)
		}
		all = append(all, parts)
	}
	if err := a.Tables(all...); err != nil {
		return err
	}
	return a.Printf("%s", d.remarks())
}

// totals are the lines on the whole program.
func (d *costDetails) totals() string {
	line := fmt.Sprintf("%s of %s on %s (%s): %s us a call (%s, +-%.0f %%), "+
		"%s us of it on the engine in %s; bound by %s\n",
		cli.Visible(d.Function), cli.Visible(d.File), d.Chip, d.Target, microseconds(d.Call.Value), d.Call.Evidence,
		100*d.Uncertainty.Value, microseconds(d.Task.Value), cli.Counted(d.Tasks, "task", "tasks"), d.Bound)
	if d.Clock.Evidence != chip.Unknown.String() {
		line += fmt.Sprintf("clock: %.0f MHz (%s)\n", d.Clock.Value, d.Clock.Evidence)
	}
	if d.Why != "" {
		line += fmt.Sprintf("two engines: %s\n", d.Why)
	}
	line += fmt.Sprintf("memory: %d bytes of surfaces, %d of weights, %d of the largest intermediate\n", d.Surfaces,
		d.Weights, d.Intermediate)
	for _, b := range d.Budgets {
		if b.Over {
			line += fmt.Sprintf("over budget: %d %s, %d (%s)\n", b.Used, b.Name, *b.Limit, b.Evidence)
		}
	}
	line += fmt.Sprintf("Core ML: %d of %s on the engine in %s; %s us with all on the CPU, %s us as placed (%s)\n",
		d.CoreML.OnEngine, cli.Counted(len(d.Operators), "operator", "operators"), cli.Counted(d.CoreML.Segments, "segment",
			"segments"), microseconds(d.CoreML.CPU.Value), microseconds(d.CoreML.Chosen.Value), d.CoreML.CPU.Evidence)
	if d.CPU {
		line += "the CPU would be quicker than a call of the engine\n"
	}
	for _, n := range d.Notes {
		line += "note: " + n + "\n"
	}
	return line
}

// remarks are the lines on operators: each remark once, with the names of its operators.
func (d *costDetails) remarks() string {
	var order []string
	names := map[string][]string{}
	for _, r := range d.Operators {
		if r.Note == "" {
			continue
		}
		if names[r.Note] == nil {
			order = append(order, r.Note)
		}
		names[r.Note] = append(names[r.Note], cli.Visible(r.Name))
	}
	text := ""
	for i, note := range order {
		if i == 0 {
			text = "\n"
		}
		text += fmt.Sprintf("%s: %s\n", cli.Visible(note), strings.Join(names[note], ", "))
	}
	return text
}

// microseconds formats a time in nanoseconds, with three or more digits.
func microseconds(v float64) string {
	switch v /= 1e3; {
	case v == 0:
		return "0"
	case v < 100:
		return fmt.Sprintf("%.3g", v)
	}
	return fmt.Sprintf("%.0f", v)
}
