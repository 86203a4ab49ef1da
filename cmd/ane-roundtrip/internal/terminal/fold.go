package terminal

import (
	"strings"
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
