package mil

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// Widths of an Excerpt.
const (
	// ExcerptWidth is the number of columns that Excerpt uses if its caller gives none.
	ExcerptWidth = 100
	tabWidth     = 4
	leastExcerpt = 20
)

// Excerpt returns the line of src at pos and, below it, a caret under the place: two lines
// without a final line break. It is one line for a Pos without column, and empty if src has
// no such place. Tabs become blanks, and the caret allows for characters that terminals
// show two columns wide. A line longer than columns is cut around the place; if columns is
// 0, it is ExcerptWidth.
func Excerpt(src []byte, pos Pos, columns int) string {
	line, ok := lineOf(src, pos.Line)
	if !ok || pos.Col < 0 {
		return ""
	}
	if columns <= 0 {
		columns = ExcerptWidth
	}
	cells, at := layOut(line, pos.Col-1, 4*max(columns, leastExcerpt))
	text, caret := cutCells(cells, at, max(columns, leastExcerpt))
	if pos.Col == 0 {
		return text
	}
	return text + "\n" + strings.Repeat(" ", caret) + "^"
}

// lineOf returns line n of src, from 1, without its end.
func lineOf(src []byte, n int) (line []byte, ok bool) {
	src = bytes.TrimPrefix(src, []byte(byteOrderMark))
	for ; n > 1; n-- {
		i := bytes.IndexByte(src, '\n')
		if i < 0 {
			return nil, false
		}
		src = src[i+1:]
	}
	line, _, _ = bytes.Cut(src, []byte{'\n'})
	return bytes.TrimRight(line, "\r"), n == 1
}

// cell is a character with those that combine with it.
type cell struct {
	text  string
	width int
}

// layOut divides a line into cells, and returns the index of the one at the byte offset. It
// leaves out what is more than reach bytes from the offset.
func layOut(line []byte, offset, reach int) (cells []cell, at int) {
	from := max(0, offset-reach)
	for from > 0 && from < len(line) && !utf8.RuneStart(line[from]) {
		from--
	}
	if from > len(line) {
		from = max(0, len(line)-reach)
	}
	if from > 0 {
		cells = append(cells, cell{cutMark, len(cutMark)})
	}
	at, column := -1, 0
	for i := from; i < len(line); {
		if i >= offset && at < 0 {
			at = len(cells)
		}
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
		if offset > 0 && i > offset && at < 0 { // the offset is inside the character
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

// columnsOf returns the number of columns of a terminal that show r.
func columnsOf(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case r < utf8.RuneSelf:
		return 1
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// cutMark stands for what is cut from a line.
const cutMark = "..."

// cutCells returns the text of cells around index at, in at most columns, and the column of
// that cell.
func cutCells(cells []cell, at, columns int) (text string, caret int) {
	total := 0
	for _, c := range cells {
		total += c.width
	}
	first, last := 0, len(cells)
	if total > columns {
		room := columns - 2*len(cutMark) - 1
		first, last = at, at
		for left, right := room/2, room/2; ; {
			grown := false
			if first > 0 && cells[first-1].width <= left {
				first--
				left -= cells[first].width
				grown = true
			}
			if last < len(cells) && cells[last].width <= right {
				right -= cells[last].width
				last++
				grown = true
			}
			if !grown && (first == 0 && left > 0 && last < len(cells)) {
				right, left = right+left, 0
				continue
			}
			if !grown && (last == len(cells) && right > 0 && first > 0) {
				left, right = left+right, 0
				continue
			}
			if !grown {
				break
			}
		}
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
