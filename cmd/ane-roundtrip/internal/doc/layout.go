package doc

import (
	"io"
	"slices"
	"strings"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/terminal"
)

const (
	gap      = 2  // columns between two cells
	minLast  = 28 // least width of a last column that is folded beside the others
	minShort = 12 // least width of a column whose cells are shortened
	indent   = 4  // indentation of a cell below the others
)

// Print prints the table on lines of at most width columns; 0 is no limit. If the table is wider, columns with one value
// for all rows move to a line above, and the columns of Group and Shorten give way. Then the last column is folded
// between words, beside the others if that leaves enough room, else on lines below them. If the other columns do not
// fit, each row becomes a list of its cells.
func (t *Table) Print(w io.Writer, width int) error {
	_, err := io.WriteString(w, t.text(width, painter(w)))
	return err
}

func (t *Table) text(width int, paint painting) string {
	var out strings.Builder
	for i, one := range t.onTerminal().fitted(width) {
		if i > 0 {
			out.WriteByte('\n')
		}
		if len(one.above) > 0 {
			out.WriteString(terminal.Fold(strings.Join(one.above, ", "), width, indent) + "\n")
		}
		one.print(&out, paint, width, 0)
	}
	return out.String()
}

// Room makes columns as wide as texts that are not known yet, before Continue prints the first rows.
func (t *Table) Room(texts ...string) {
	var row []Cell
	for _, text := range texts {
		row = append(row, Words("%s", text))
	}
	t.room = append(t.room, row)
}

// Continue prints the rows that it has not printed yet, and folds the last column as Print does.
func (t *Table) Continue(w io.Writer, width int) error {
	var out strings.Builder
	shown := t.onTerminal()
	shown.print(&out, painter(w), width, t.printed)
	t.printed = len(shown.all())
	_, err := io.WriteString(w, out.String())
	return err
}

// onTerminal returns the table with what a terminal shows.
func (t *Table) onTerminal() *Table {
	t = t.choose(func(_ int, c column) bool { return !c.page })
	for _, row := range t.Rows {
		for i, c := range row {
			if text := c.String(); text == "" && t.Columns[i].Class != "wide" {
				row[i] = Words("-")
			} else {
				row[i] = c.Brief("%s", text)
			}
		}
	}
	return t
}

// all returns the rows, below the names of the columns if they have names.
func (t *Table) all() [][]Cell {
	if !t.headed() {
		return t.Rows
	}
	var head []Cell
	for _, c := range t.Columns {
		head = append(head, Words("%s", c.brief))
	}
	return append([][]Cell{head}, t.Rows...)
}

func (t *Table) headed() bool {
	return slices.ContainsFunc(t.Columns, func(c column) bool { return c.brief != "" })
}

// fitted returns the tables that take the place of t on lines of at most width columns, so that a row stays one line.
func (t *Table) fitted(width int) []*Table {
	if width <= 0 || !t.headed() || t.fits(width) {
		return []*Table{t}
	}
	if t = t.hoisted(); t.fits(width) {
		return []*Table{t}
	}
	if last := len(t.Columns) - 1; last > 1 && t.wordy(last-1) {
		t.merge(last)
	}
	all := t.grouped()
	for _, one := range all {
		one.shorten(width)
	}
	return all
}

// fits reports whether no row needs to become a list. The table then has at most width columns, or its last column has
// words that can be folded beside the others or below them.
func (t *Table) fits(width int) bool {
	_, others, all := t.measure()
	return all <= width || t.wordy(len(t.Columns)-1) && others-gap <= width
}

// wordy reports whether cells of a column have words between which they can be folded.
func (t *Table) wordy(column int) bool {
	return slices.ContainsFunc(t.Rows, func(row []Cell) bool {
		text := row[column].String()
		return terminal.Length(text) > minLast && strings.Contains(text, " ")
	})
}

// merge makes the last two columns one.
func (t *Table) merge(last int) {
	join := func(a, b string) string {
		return strings.Join(slices.DeleteFunc([]string{a, b}, func(s string) bool { return s == "" || s == "-" }), "; ")
	}
	columns := slices.Clone(t.Columns[:last])
	columns[last-1].brief = join(columns[last-1].brief, t.Columns[last].brief)
	t.Columns = columns
	for i, row := range t.Rows {
		t.Rows[i] = append(slices.Clone(row[:last-1]), Words("%s", join(row[last-1].String(), row[last].String())))
	}
}

// hoisted returns the table without the columns that have a name and one value for all of several rows. above gets
// their names and values. The first column stays.
func (t *Table) hoisted() *Table {
	above := slices.Clone(t.above)
	hoisted := t.choose(func(i int, c column) bool {
		if i == 0 || c.brief == "" || len(t.Rows) < 2 {
			return true
		}
		value := t.Rows[0][i].String()
		if slices.ContainsFunc(t.Rows, func(row []Cell) bool { return row[i].String() != value }) {
			return true
		}
		if value != "" && value != "-" {
			above = append(above, c.brief+": "+value)
		}
		return false
	})
	hoisted.above = above
	return hoisted
}

// grouped returns a table for each value of the column of Group.
func (t *Table) grouped() (all []*Table) {
	if t.group < 0 {
		return []*Table{t}
	}
	var values []string
	of := map[string]*Table{}
	for _, row := range t.Rows {
		value := row[t.group].String()
		if of[value] == nil {
			one := *t
			one.Rows, one.above = nil, []string{t.Columns[t.group].brief + ": " + value}
			if len(values) == 0 {
				one.above = append(slices.Clone(t.above), one.above...)
			}
			values, of[value] = append(values, value), &one
		}
		of[value].Rows = append(of[value].Rows, row)
	}
	for _, value := range values {
		one := of[value].choose(func(i int, _ column) bool { return i != t.group })
		one.above, one.group = of[value].above, -1
		all = append(all, one)
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
			if widths[i] > minShort && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		widths[widest]--
	}
	for _, row := range t.Rows {
		for _, i := range t.short {
			row[i] = row[i].Brief("%s", terminal.Shorten(row[i].String(), widths[i]))
		}
	}
}

// measure returns the width of each column, of all columns but the last with their gaps, and of the whole table.
func (t *Table) measure() (widths []int, others, all int) {
	widths = make([]int, len(t.Columns))
	for _, row := range append(t.all(), t.room...) {
		for i, c := range row {
			widths[i] = max(widths[i], terminal.Length(c.String()))
		}
	}
	for _, n := range widths {
		others, all = all+gap, all+gap+n
	}
	return widths, others - gap, all - gap
}

// print prints the rows from first on.
func (t *Table) print(out *strings.Builder, paint painting, width, first int) {
	widths, others, all := t.measure()
	rows := t.all()
	for i, row := range rows[min(first, len(rows)):] {
		last := len(row) - 1
		switch {
		case width <= 0 || all <= width:
			out.WriteString(line(paint, row, widths) + "\n")
		case width-others >= minLast:
			for k, text := range strings.Split(terminal.Fold(row[last].String(), width-others, 0), "\n") {
				if k == 0 {
					text = line(paint, append(slices.Clone(row[:last]), row[last].Brief("%s", text)), widths)
				} else {
					text = strings.Repeat(" ", others) + text
				}
				out.WriteString(text + "\n")
			}
		case others-gap <= width:
			out.WriteString(line(paint, row[:last], widths) + "\n")
			if text := row[last].String(); text != "" {
				out.WriteString(terminal.Fold(strings.Repeat(" ", indent)+text, width, indent) + "\n")
			}
		case t.headed() && first+i == 0: // list prints the name of the column before each cell
		default:
			t.list(out, paint, row, width)
		}
	}
}

// line is a row on one line.
func line(paint painting, row []Cell, widths []int) string {
	var out strings.Builder
	space := 0
	for i, c := range row {
		if text := c.String(); text != "" {
			out.WriteString(strings.Repeat(" ", space) + paint(c, text))
			space = -terminal.Length(text)
		}
		space += widths[i] + gap
	}
	return out.String()
}

// list prints a row with a line for each cell.
func (t *Table) list(out *strings.Builder, paint painting, row []Cell, width int) {
	for i, c := range row {
		text := c.String()
		if text == "" {
			continue
		}
		lead := ""
		if i > 0 {
			lead = strings.Repeat(" ", indent)
			if name := t.Columns[i].brief; name != "" {
				lead += name + ": "
			}
		}
		folded := terminal.Fold(lead+text, width, 2*indent)
		if before, ok := strings.CutSuffix(folded, text); ok {
			folded = before + paint(c, text)
		}
		out.WriteString(folded + "\n")
	}
}
