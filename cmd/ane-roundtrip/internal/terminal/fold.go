package terminal

import (
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
	"golang.org/x/text/width"
)

// Fold breaks each line of text between words, so that it has at most width columns, and indents the
// continuation lines. It never breaks a word, and does not change lines that fit. A width of 0 is no
// limit.
func Fold(text string, width, indent int) string {
	if width <= 0 {
		return text
	}
	var out strings.Builder
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			out.WriteByte('\n')
		}
		fold(&out, line, width, indent)
	}
	return out.String()
}

func fold(out *strings.Builder, line string, width, indent int) {
	if Length(line) <= width {
		out.WriteString(line)
		return
	}
	body := strings.TrimLeft(line, " ")
	at := len(line) - len(body)
	out.WriteString(line[:at])
	first := true
	for _, word := range strings.Fields(body) {
		n := Length(word)
		switch {
		case first:
		case at+1+n > width:
			out.WriteString("\n" + strings.Repeat(" ", indent))
			at = indent
		default:
			out.WriteByte(' ')
			at++
		}
		first = false
		out.WriteString(word)
		at += n
	}
}

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

// Length returns how many columns a text takes.
func Length(text string) (n int) {
	for _, r := range text {
		n += columnsOf(r)
	}
	return n
}

// columnsOf is how many columns a character takes: those of East Asia take two, those that combine with another none.
func columnsOf(r rune) int {
	if r < utf8.RuneSelf {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// Shorten returns a text of at most n columns: its start and its end.
func Shorten(text string, n int) string {
	if Length(text) <= n {
		return text
	}
	all, start, end := []rune(text), 0, 0
	for left := n - 1 - (n-1)/2; left >= columnsOf(all[start]); start++ {
		left -= columnsOf(all[start])
	}
	for left := (n - 1) / 2; left >= columnsOf(all[len(all)-1-end]); end++ {
		left -= columnsOf(all[len(all)-1-end])
	}
	return string(all[:start]) + "…" + string(all[len(all)-end:])
}
