package main

import (
	"fmt"
	"io"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/page"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/trial"
)

// paint colors a status or verdict on a terminal: green for pass, red for fail, yellow for skip
// and unavailable.
func paint(w io.Writer, status string) string {
	if !page.Colored(w) {
		return status
	}
	switch status {
	case trial.Pass:
		return page.Green.Paint(status)
	case trial.Fail:
		return page.Red.Paint(status)
	case trial.Skip, verdictUnavailable:
		return page.Yellow.Paint(status)
	}
	return status
}

// orDash returns the text, or a dash.
func orDash(ok bool, text string) string {
	if !ok {
		return "-"
	}
	return text
}

// table prints a table at the width of the terminal or of COLUMNS.
func (a *app) table(t *page.Table) error { return t.Write(a.out, page.Width(a.out)) }

// tables prints tables with an empty line between two.
func (a *app) tables(all ...*page.Table) error {
	for i, t := range all {
		if i > 0 {
			if err := a.printf("\n"); err != nil {
				return err
			}
		}
		if err := a.table(t); err != nil {
			return err
		}
	}
	return nil
}

// receiptOf formats the name, chip and system of an engine.
func receiptOf(r *ane.Receipt) string { return fmt.Sprintf("%s: %s, %s", r.Engine, r.Chip, r.OSBuild) }

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

// logf prints a line to standard error for the reader, with control characters escaped; scripts do not
// parse it.
func (a *app) logf(format string, args ...any) {
	fmt.Fprintln(a.err, page.Fold(visible(fmt.Sprintf(format, args...)), page.Width(a.err), 2))
}

// printf prints lines of the readable report to standard output.
func (a *app) printf(format string, args ...any) error {
	_, err := io.WriteString(a.out, page.Fold(fmt.Sprintf(format, args...), page.Width(a.out), 2))
	return err
}

// notes prints notes to standard error. It prints none where the JSON object goes to standard
// error too: the object contains them.
func (a *app) notes(all []string) {
	if a.json && a.out == a.err {
		return
	}
	for _, n := range all {
		a.logf("note: %s", n)
	}
}

// say writes a text of a model, a guest or a program: to a terminal with what would control it escaped, else as it is.
func say(w io.Writer, text string) error {
	if _, terminal := page.Terminal(w); terminal {
		text = page.Inert(text)
	}
	_, err := io.WriteString(w, text)
	return err
}

// visible returns s with invisible and control characters escaped as in Go.
func visible(s string) string { return page.Visible(s) }
