package main

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"
	"time"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
)

// finish prints the report of check: as JSON, as tables, or quietly as what failed.
func (a *app) finish(r report, all []trialled, quiet bool) error {
	if a.json {
		return r.write(a.out)
	}
	if r.Engine == nil {
		_, err := fmt.Fprintf(a.out, "verdict: %s\n", r.Verdict)
		return err
	}
	if !quiet {
		for _, t := range all {
			if err := engineTable(a.out, t); err != nil {
				return err
			}
		}
		if err := checkTable(a.out, r.Checks); err != nil {
			return err
		}
		fmt.Fprintln(a.out)
	}
	var failed []trial.Check
	passed, skipped := 0, ""
	for _, c := range r.Checks {
		switch c.Status {
		case trial.Pass:
			passed++
		case trial.Fail:
			failed = append(failed, c)
		case trial.Skip:
			skipped = ", others could not be made here"
		}
	}
	if len(failed) > 0 { // again, where a reader of a long table looks
		if err := checkTable(a.out, failed); err != nil {
			return err
		}
		fmt.Fprintln(a.out)
	}
	_, err := fmt.Fprintf(a.out, "%d of %d checks passed%s\nverdict: %s\n", passed, len(r.Checks), skipped, r.Verdict)
	return err
}

// engineTable prints an engine's receipt and a row for each model.
func engineTable(out io.Writer, t trialled) error {
	e := t.receipt
	fmt.Fprintf(out, "engine   %s: %s, %s\n", e.Engine, e.Chip, e.OSBuild)
	fmt.Fprintf(out, "numerics %s\n", e.Numerics)
	fmt.Fprintf(out, "sharing  %s\n", e.Sharing)
	if e.Fallback != "" {
		fmt.Fprintf(out, "because  %s\n", e.Fallback)
	}
	fmt.Fprintln(out)
	w := columns(out)
	fmt.Fprintln(w, "model\tcompile\tload\tp50\tp99\tmax error\tcopied\t")
	for _, m := range t.rows {
		if m.Error != "" {
			fmt.Fprintf(w, "%s\t-\t-\t-\t-\t-\t-\t\n", m.Name)
			continue
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%.2g\t%d B\t\n", m.Name, brief(m.Compile), brief(m.Load), brief(m.P50), brief(m.P99), m.MaxError, m.Copied)
	}
	fmt.Fprintln(w)
	return w.Flush()
}

// checkTable prints a row for each check.
func checkTable(out io.Writer, checks []trial.Check) error {
	w := columns(out)
	fmt.Fprintln(w, "check\tstatus\tvalue\tdetail")
	for _, c := range checks {
		value := "-"
		if c.Unit != "" {
			value = fmt.Sprintf("%.4g %s", c.Value, c.Unit)
			if c.Value == math.Trunc(c.Value) && math.Abs(c.Value) < 1e15 {
				value = fmt.Sprintf("%.0f %s", c.Value, c.Unit)
			}
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", c.Name, c.Status, value, c.Detail)
	}
	return w.Flush()
}

// columns aligns what is written to it by tabs.
func columns(out io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(out, 0, 0, 2, ' ', 0) }

// brief rounds a duration to three digits.
func brief(d time.Duration) string {
	switch {
	case d < 10*time.Microsecond:
		return d.String()
	case d < 10*time.Millisecond:
		return d.Round(100 * time.Nanosecond).String()
	}
	return d.Round(100 * time.Microsecond).String()
}
