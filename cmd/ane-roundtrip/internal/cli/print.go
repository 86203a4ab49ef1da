package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/page"
)

// Table prints a table at the width of the terminal or of COLUMNS.
func (a *App) Table(t *page.Table) error { return t.Write(a.Out, page.Width(a.Out)) }

// Tables prints tables with an empty line between two.
func (a *App) Tables(all ...*page.Table) error {
	for i, t := range all {
		if i > 0 {
			if err := a.Printf("\n"); err != nil {
				return err
			}
		}
		if err := a.Table(t); err != nil {
			return err
		}
	}
	return nil
}

// Counted formats a number with its noun in singular or plural.
func Counted(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}

// EngineText formats the name, chip and system of an engine.
func EngineText(r *ane.Receipt) string { return fmt.Sprintf("%s: %s, %s", r.Engine, r.Chip, r.OSBuild) }

// Brief rounds a duration to three digits.
func Brief(d time.Duration) string {
	switch {
	case d < 10*time.Microsecond:
		return d.String()
	case d < 10*time.Millisecond:
		return d.Round(100 * time.Nanosecond).String()
	}
	return d.Round(100 * time.Microsecond).String()
}

// Logf prints a line to standard error for the reader, with control characters escaped; scripts do not
// parse it.
func (a *App) Logf(format string, args ...any) {
	fmt.Fprintln(a.Err, page.Fold(Visible(fmt.Sprintf(format, args...)), page.Width(a.Err), 2))
}

// Printf prints lines of the readable report to standard output.
func (a *App) Printf(format string, args ...any) error {
	_, err := io.WriteString(a.Out, page.Fold(fmt.Sprintf(format, args...), page.Width(a.Out), 2))
	return err
}

// Notes prints notes to standard error. It prints none where the JSON object goes to standard
// error too: the object contains them.
func (a *App) Notes(all []string) {
	if a.JSON && a.Out == a.Err {
		return
	}
	for _, n := range all {
		a.Logf("note: %s", n)
	}
}

// WriteText writes a text of a model, a guest or a program: to a terminal with what would control it escaped, else as
// it is.
func WriteText(w io.Writer, text string) error {
	if _, terminal := page.Terminal(w); terminal {
		text = page.Inert(text)
	}
	_, err := io.WriteString(w, text)
	return err
}

// Visible returns s with invisible and control characters escaped as in Go.
func Visible(s string) string { return page.Visible(s) }
