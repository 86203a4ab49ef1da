package cli

import (
	"fmt"
	"io"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/terminal"
)

// Counted formats a number with its noun in singular or plural.
func Counted(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}

// Logf prints a line to standard error for the reader, with control characters escaped; scripts do not
// parse it.
func (a *App) Logf(format string, args ...any) {
	fmt.Fprintln(a.Err, terminal.Fold(Visible(fmt.Sprintf(format, args...)), terminal.Width(a.Err), 2))
}

// Printf prints lines of the readable report to standard output.
func (a *App) Printf(format string, args ...any) error {
	_, err := io.WriteString(a.Out, terminal.Fold(fmt.Sprintf(format, args...), terminal.Width(a.Out), 2))
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
	if _, ok := terminal.Columns(w); ok {
		text = terminal.Inert(text)
	}
	_, err := io.WriteString(w, text)
	return err
}

// Visible returns s with invisible and control characters escaped as in Go.
func Visible(s string) string { return terminal.Visible(s) }
