// Package terminal prepares text for a terminal: lines folded between words at its width, with what could control it
// escaped.
//
// Text for a file or pipe is not folded, so that a script finds each row of a table on one line. The environment
// variable COLUMNS sets the width for terminals, files and pipes.
package terminal

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Inert escapes, as in Go, what could control a terminal: control characters other than line feeds and tabs, and bytes
// that are no UTF-8.
func Inert(s string) string {
	return escaped(s, func(r rune, n int) bool {
		return unicode.IsControl(r) && r != '\n' && r != '\t' || r == utf8.RuneError && n == 1
	})
}

// escaped returns s with the characters r, of n bytes, that are chosen escaped as in Go.
func escaped(s string, chosen func(r rune, n int) bool) string {
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if chosen(r, n) {
			quoted := strconv.QuoteToASCII(s[:n])
			b.WriteString(quoted[1 : len(quoted)-1])
		} else {
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}

// Visible returns s with invisible and control characters escaped as in Go: a file name may contain
// sequences that control the terminal.
func Visible(s string) string {
	if !strings.ContainsFunc(s, hidden) && utf8.ValidString(s) {
		return s
	}
	return escaped(s, func(r rune, _ int) bool { return hidden(r) || r == utf8.RuneError })
}

// hidden reports whether r is a control character, an invisible mark or one that changes the
// direction of text.
func hidden(r rune) bool { return !unicode.IsPrint(r) }
