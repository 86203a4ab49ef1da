package terminal

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sizes of an Excerpt, in columns.
const (
	excerptWidth = 100 // without a limit
	tabWidth     = 4
	cutMark      = "..." // stands for what is cut from a line
)

// Excerpt returns a line of src, from 1, and, below it, a caret under a byte of the line, from 1: two lines without a
// final line break. It is one line for byte 0, and empty if src has no such place. Tabs become blanks, what could
// control the terminal becomes U+FFFD. A line longer than columns is cut around the place; without columns it may have
// 100.
func Excerpt(src []byte, line, at, columns int) string {
	text, ok := lineOf(src, line)
	if !ok || at < 0 {
		return ""
	}
	if columns <= 0 {
		columns = excerptWidth
	}
	columns = max(columns, minWidth)
	cells, index := layOut(text, at-1, 4*columns)
	shown, caret := cutCells(cells, index, columns)
	if at == 0 {
		return shown
	}
	return shown + "\n" + strings.Repeat(" ", caret) + "^"
}

// lineOf returns line n of src, from 1, without its end.
func lineOf(src []byte, n int) (line []byte, ok bool) {
	lines := bytes.SplitN(bytes.TrimPrefix(src, []byte("\uFEFF")), []byte{'\n'}, max(n, 0)+1)
	if n < 1 || n > len(lines) {
		return nil, false
	}
	return bytes.TrimRight(lines[n-1], "\r"), true
}

// cell is a character with those that combine with it.
type cell struct {
	text  string
	width int
}

// layOut divides a line into cells, and returns the index of the one at the byte offset. It leaves out what is more
// than reach bytes from the offset.
func layOut(line []byte, offset, reach int) (cells []cell, at int) {
	from := max(0, min(offset, len(line))-reach)
	for from > 0 && !utf8.RuneStart(line[from]) {
		from--
	}
	if from > 0 {
		cells = append(cells, cell{cutMark, len(cutMark)})
	}
	at, column := -1, 0
	for i := from; i < len(line); {
		if i > offset+reach {
			cells = append(cells, cell{cutMark, len(cutMark)})
			break
		}
		r, n := utf8.DecodeRune(line[i:])
		c := cell{string(line[i : i+n]), columnsOf(r)}
		switch {
		case r == '\t':
			c.width = tabWidth - column%tabWidth
			c.text = strings.Repeat(" ", c.width)
		case r == utf8.RuneError || !unicode.IsGraphic(r) && c.width > 0:
			c = cell{string(utf8.RuneError), 1}
		}
		i += n
		if i > max(offset, 0) && at < 0 { // the offset is at or inside the character
			at = len(cells)
		}
		if column += c.width; c.width == 0 && len(cells) > 0 && at != len(cells) {
			cells[len(cells)-1].text += c.text
			continue
		}
		cells = append(cells, c)
	}
	if at < 0 {
		at = len(cells)
	}
	return cells, at
}

// cutCells returns the text of cells around index at, in at most columns, and the column of that cell.
func cutCells(cells []cell, at, columns int) (text string, caret int) {
	first, last, total := 0, len(cells), 0
	for _, c := range cells {
		total += c.width
	}
	if total > columns {
		first, last = at, at
		room, used := columns-2*len(cutMark)-1, 0
		left := func(limit int) {
			for ; first > 0 && used+cells[first-1].width <= limit; first-- {
				used += cells[first-1].width
			}
		}
		left(room / 2)
		for ; last < len(cells) && used+cells[last].width <= room; last++ {
			used += cells[last].width
		}
		left(room)
	}
	var b strings.Builder
	if first > 0 {
		b.WriteString(cutMark)
		caret = len(cutMark)
	}
	for i, c := range cells[first:last] {
		b.WriteString(c.text)
		if first+i < at {
			caret += c.width
		}
	}
	if last < len(cells) {
		b.WriteString(cutMark)
	}
	return strings.TrimRight(b.String(), " "), caret
}
