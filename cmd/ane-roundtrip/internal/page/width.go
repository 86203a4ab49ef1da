package page

import (
	"io"
	"os"
	"strconv"

	"golang.org/x/term"
)

// Terminal reports whether w is a terminal, and its columns; 0 where it does not tell.
func Terminal(w io.Writer) (columns int, ok bool) {
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

// narrowest is the least width that text is folded to.
const narrowest = 20

// Width is the columns that a line written to w may have: COLUMNS if it is set, else
// those of the terminal. 0 is no limit.
func Width(w io.Writer) int {
	columns, ok := Terminal(w)
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		columns = n
	} else if ok && columns == 0 {
		columns = 80
	}
	if columns > 0 {
		columns = max(columns, narrowest)
	}
	return columns
}
