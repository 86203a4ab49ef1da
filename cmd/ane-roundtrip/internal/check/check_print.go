package check

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/page"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
)

// print prints the report of check: all tables, or with --quiet only the failed checks and the verdict.
func (c *CheckRun) print(all []EngineResult) error {
	a, r := c.App, c.report
	if !c.quiet {
		for _, t := range all {
			if err := engineTable(a, t); err != nil {
				return err
			}
		}
		if err := c.gpuTable(); err != nil {
			return err
		}
		if err := checkTable(a, r.Checks); err != nil {
			return err
		}
		fmt.Fprintln(a.Out)
	}
	var failed []trial.Check
	passed, more := 0, ""
	var unmeasured []string // growth of memory, which the verdict says nothing of
	for _, one := range r.Checks {
		switch one.Status {
		case trial.Pass:
			passed++
		case trial.Fail:
			failed = append(failed, one)
		case trial.Skip:
			more = ", others cannot run here"
			if strings.HasPrefix(one.Name, "gpu/growth") {
				unmeasured = append(unmeasured, one.Name)
			}
		}
	}
	if c.leftOut > 0 {
		more += fmt.Sprintf(", %d left out by --only %s", c.leftOut, c.only.pattern)
	}
	if len(failed) > 0 { // printed again at the end, so that the reader need not search a long table
		if err := checkTable(a, failed); err != nil {
			return err
		}
		fmt.Fprintln(a.Out)
	}
	verdict := cli.Paint(a.Out, r.Verdict)
	if len(unmeasured) > 0 {
		verdict += ", " + strings.Join(unmeasured, " and ") + " not measured on this system"
	}
	lines := fmt.Sprintf("%d of %d checks passed%s\n", passed, len(r.Checks), cli.Visible(more))
	for _, one := range c.claims {
		lines += one.Words() + "\n"
	}
	return a.Printf("%sverdict: %s\n", lines, verdict)
}

// engineTable prints the receipt of an engine and a row for each model.
func engineTable(a *cli.App, t EngineResult) error {
	e := t.Receipt
	about := page.NewTable()
	about.Row("engine", cli.EngineText(&e))
	for _, row := range [][2]string{{"numerics", e.Numerics}, {"sharing", e.Sharing}, {"because", e.Fallback}} {
		if row[1] != "" {
			about.Row(row[0], row[1])
		}
	}
	if err := a.Table(about); err != nil {
		return err
	}
	fmt.Fprintln(a.Out)
	for _, g := range t.guests {
		if err := guestTable(a, g); err != nil {
			return err
		}
	}
	if len(t.Rows) == 0 {
		return nil
	}
	w := page.NewTable("model", "compile", "load", "p50", "p99", "max error", "copied")
	for _, m := range t.Rows {
		if m.Error != "" {
			w.Row(m.Name, "-", "-", "-", "-", "-", "-")
			continue
		}
		copied := "not shown"
		if m.Copied != nil {
			copied = fmt.Sprintf("%d B", *m.Copied)
		}
		w.Row(m.Name, cli.Brief(m.Compile), cli.Brief(m.Load), cli.Brief(m.P50), cli.Brief(m.P99),
			fmt.Sprintf("%.2g", float64(m.MaxError)), copied)
	}
	if err := a.Table(w); err != nil {
		return err
	}
	_, err := fmt.Fprintln(a.Out)
	return err
}

// gpuTable prints what the GPU is.
func (c *CheckRun) gpuTable() error {
	if c.gpu == nil {
		return nil
	}
	about, r := page.NewTable(), c.gpu.Report()
	about.Row("gpu", cli.Visible(fmt.Sprintf("%s, %s, %s", r.Name, r.Driver, r.API)))
	about.Row("kind", r.Kind)
	about.Row("id", r.ID)
	about.Row("road", fmt.Sprintf("%s, in multiples of %d bytes", r.Road, r.Alignment))
	if err := c.App.Table(about); err != nil {
		return err
	}
	_, err := fmt.Fprintln(c.App.Out)
	return err
}

// guestTable prints the figures of a guest beside those of the path with copies.
func guestTable(a *cli.App, g trial.GuestReport) error {
	grown := func(n *int64) string {
		if n == nil {
			return "-"
		}
		return fmt.Sprintf("%.3f MB", float64(*n)/1e6)
	}
	how := "surfaces mapped over the guest's memory"
	if g.Path == "offset" {
		how = "tensors at an offset of the guest's memory"
	}
	w := page.NewTable("guest: "+how, "in place", "with copies")
	w.Row("errors in "+fmt.Sprint(g.Elements)+" elements", fmt.Sprint(g.Errors), fmt.Sprint(g.Copying.Errors))
	w.Row("copied in a run", "0 B", fmt.Sprintf("%d B", g.Copying.Copied))
	if g.Copied > 0 {
		w.Row("copied in all runs", fmt.Sprintf("%d B", g.Copied), "-")
	}
	w.Row("growth of memory by a tensor of 16 MiB", grown(g.Growth), grown(g.Copying.Growth))
	w.Row("a run of 128 x 128, p50", cli.Brief(time.Duration(g.Latency)), cli.Brief(time.Duration(g.Copying.Latency)))
	w.Row("a call across the boundary", fmt.Sprintf("%.1f ns", g.Crossing), "-")
	if err := a.Table(w); err != nil {
		return err
	}
	_, err := fmt.Fprintln(a.Out)
	return err
}

// checkTable prints a row for each check.
func checkTable(a *cli.App, checks []trial.Check) error {
	const status = 1 // column
	w := page.NewTable("check", "status", "value", "detail")
	w.Paint = func(column int, cell string) string {
		if column == status {
			return cli.Paint(a.Out, cell)
		}
		return cell
	}
	for _, c := range checks {
		w.Row(c.Name, c.Status, valueOf(c), cli.Visible(c.Detail))
	}
	return a.Table(w)
}

// valueOf formats the measured value of a check.
func valueOf(c trial.Check) string {
	v, unit := float64(c.Value), c.Unit
	if v == 1 && len(unit) > 2 { // not ns
		unit = strings.TrimSuffix(unit, "s")
	}
	switch {
	case unit == "":
		return "-"
	case v == math.Trunc(v) && math.Abs(v) < 1e15:
		return fmt.Sprintf("%.0f %s", v, unit)
	}
	return fmt.Sprintf("%.4g %s", v, unit)
}
