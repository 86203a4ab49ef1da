package terminal

import (
	"io"
	"os"
	"strconv"

	"golang.org/x/term"
)

// Columns reports whether w is a terminal, and returns its columns; 0 if it does not report them.
func Columns(w io.Writer) (columns int, ok bool) {
	f, isFile := w.(*os.File)
	if !isFile || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	columns, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0, true
	}
	return columns, true
}

// minWidth is the least width that Width returns for a limit.
const minWidth = 20

// Width returns how many columns a line for w may have: COLUMNS if it is set, else the columns of the
// terminal. 0 is no limit.
func Width(w io.Writer) int {
	columns, ok := Columns(w)
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		columns = n
	} else if ok && columns == 0 {
		columns = 80
	}
	if columns > 0 {
		columns = max(columns, minWidth)
	}
	return columns
}
