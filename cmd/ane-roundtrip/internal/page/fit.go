package page

import (
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	minShort = 12  // least width of a column whose cells are shortened
	ellipsis = "…" // in the middle of a shortened cell
)

// fitted returns the tables that take the place of t on lines of at most width columns, so that a row stays one line: a
// column with one value for all rows moves to a line above, two last columns of words become one, rows of different
// groups become tables of their own, and long cells of the columns of Shorten lose their middle.
func (t *Table) fitted(width int) []*Table {
	if width <= 0 || !t.head || t.fits(width) {
		return []*Table{t}
	}
	if t = t.hoisted(); t.fits(width) {
		return []*Table{t}
	}
	if t.columns() > 2 && t.wordy(t.columns()-2) {
		t.merge()
	}
	all := t.grouped()
	for _, one := range all {
		one.shorten(width)
	}
	return all
}

// fits reports whether no row needs to become a list: the table has at most width columns, or its last column has
// words that can be folded beside the others or below them.
func (t *Table) fits(width int) bool {
	_, others, all := t.measure()
	return all <= width || t.wordy(t.columns()-1) && others-gap <= width
}

// wordy reports whether cells of a column have words between which they can be folded.
func (t *Table) wordy(column int) bool {
	return slices.ContainsFunc(t.rows[1:], func(row []string) bool {
		return len(row) > column && utf8.RuneCountInString(row[column]) > minLast && strings.Contains(row[column], " ")
	})
}

// merge makes the last two columns one.
func (t *Table) merge() {
	last := t.columns() - 1
	for i, row := range t.rows {
		if len(row) <= last {
			continue
		}
		words := slices.DeleteFunc(slices.Clone(row[last-1:]), func(cell string) bool { return cell == "" })
		t.rows[i] = append(slices.Clone(row[:last-1]), strings.Join(words, "; "))
	}
}

func (t *Table) columns() int {
	n := 0
	for _, row := range t.rows {
		n = max(n, len(row))
	}
	return n
}

// hoisted returns the table without the columns that have a name and one value for all rows; above has their names and
// values, unless there is none. The first column stays, as do those of a table with one row.
func (t *Table) hoisted() *Table {
	head, body := t.rows[0], t.rows[1:]
	var gone []int
	above := slices.Clone(t.above)
	for i := 1; i < len(head) && len(body) > 1; i++ {
		same := !slices.ContainsFunc(body, func(row []string) bool { return len(row) <= i || row[i] != body[0][i] })
		if !same || head[i] == "" {
			continue
		}
		gone = append(gone, i)
		if value := body[0][i]; value != "" && value != "-" {
			above = append(above, head[i]+": "+value)
		}
	}
	return t.without(gone, body, above)
}

// without returns a table of some rows without some columns.
func (t *Table) without(gone []int, body [][]string, above []string) *Table {
	out := &Table{head: true, above: above, group: -1}
	var kept []int
	for i := range t.columns() {
		if !slices.Contains(gone, i) {
			kept = append(kept, i)
		}
	}
	for to, from := range kept {
		if slices.Contains(t.short, from) {
			out.short = append(out.short, to)
		}
		if from == t.group {
			out.group = to
		}
	}
	if t.Paint != nil {
		out.Paint = func(column int, cell string) string { return t.Paint(kept[column], cell) }
	}
	for _, row := range slices.Concat(t.rows[:1], body) {
		var cells []string
		for _, i := range kept {
			if i < len(row) {
				cells = append(cells, row[i])
			}
		}
		out.rows = append(out.rows, cells)
	}
	return out
}

// grouped returns a table for each value of the column of Group.
func (t *Table) grouped() (all []*Table) {
	if t.group < 0 {
		return []*Table{t}
	}
	var order []string
	rows := map[string][][]string{}
	for _, row := range t.rows[1:] {
		value := row[t.group]
		if rows[value] == nil {
			order = append(order, value)
		}
		rows[value] = append(rows[value], row)
	}
	for i, value := range order {
		above := []string{t.rows[0][t.group] + ": " + value}
		if i == 0 {
			above = append(slices.Clone(t.above), above...)
		}
		all = append(all, t.without([]int{t.group}, rows[value], above))
	}
	return all
}

// shorten takes the middle out of cells of the columns of Shorten, of the widest column first.
func (t *Table) shorten(width int) {
	widths, others, all := t.measure()
	if t.wordy(len(widths) - 1) {
		all = others - gap
	}
	for over := all - width; over > 0; over-- {
		widest := -1
		for _, i := range t.short {
			if i < len(widths) && widths[i] > minShort && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		widths[widest]--
	}
	for r, row := range t.rows {
		t.rows[r] = slices.Clone(row)
		for i, cell := range row {
			if slices.Contains(t.short, i) {
				t.rows[r][i] = middle(cell, widths[i])
			}
		}
	}
}

// middle returns a text of at most n columns: its start and its end.
func middle(text string, n int) string {
	r := []rune(text)
	if len(r) <= n {
		return text
	}
	end := (n - 1) / 2
	return string(r[:n-1-end]) + ellipsis + string(r[len(r)-end:])
}
