package page

import (
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// Table prints rows of cells in columns, each as wide as its widest cell.
type Table struct {
	// Paint, if set, colors a cell of a column, counted from 0, after its width was measured.
	Paint func(column int, cell string) string

	head  bool // the first row names the columns
	rows  [][]string
	short []int    // of Shorten
	group int      // of Group; -1 for none
	above []string // what holds for all rows

	room    [][]string // rows that only widen the columns
	printed int        // rows, by Continue
}

// NewTable returns a table. The names, if there are any, become its first row.
func NewTable(head ...string) *Table {
	t := &Table{group: -1}
	if len(head) > 0 {
		t.head = true
		t.Row(head...)
	}
	return t
}

// Row adds a row.
func (t *Table) Row(cells ...string) { t.rows = append(t.rows, cells) }

// Shorten has the cells of some columns, such as paths and names, lose their middle where the table is too wide.
func (t *Table) Shorten(columns ...int) { t.short = columns }

// Group has a table that is too wide become one for each value of a column, which stands above it.
func (t *Table) Group(column int) { t.group = column }

// Room makes columns as wide as cells of rows that are not known yet, before Continue prints the first ones.
func (t *Table) Room(cells ...string) { t.room = append(t.room, cells) }

const (
	gap     = 2  // columns between two cells
	minLast = 28 // least width of a last column that is folded beside the others
	indent  = 4  // indentation of a cell below the others
)

// Write prints the table with lines of at most width columns; 0 is no limit. If the table is wider, columns with one
// value for all rows move to a line above, and the columns of Group and Shorten give way. Then Write folds the last
// column between words, beside the others if that leaves enough room, else on lines below them. If the other columns do
// not fit, it prints each row as a list of its cells.
func (t *Table) Write(w io.Writer, width int) error {
	var out strings.Builder
	for i, one := range t.fitted(width) {
		if i > 0 {
			out.WriteByte('\n')
		}
		if len(one.above) > 0 {
			out.WriteString(Fold(strings.Join(one.above, ", "), width, indent) + "\n")
		}
		one.print(&out, width, 0)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// Continue prints the rows that it has not printed yet. It folds the last column as Write does, and moves no other.
func (t *Table) Continue(w io.Writer, width int) error {
	var out strings.Builder
	t.print(&out, width, t.printed)
	t.printed = len(t.rows)
	_, err := io.WriteString(w, out.String())
	return err
}

// print prints the rows from first on.
func (t *Table) print(out *strings.Builder, width, first int) {
	widths, others, all := t.measure()
	for i, row := range t.rows[first:] {
		switch {
		case width <= 0 || all <= width:
			t.line(out, row, widths)
		case width-others >= minLast:
			t.folded(out, row, widths, others, width)
		case others-gap <= width:
			last := row
			if len(row) == len(widths) {
				last = row[:len(row)-1]
			}
			t.line(out, last, widths)
			if len(row) == len(widths) && row[len(row)-1] != "" {
				out.WriteString(Fold(strings.Repeat(" ", indent)+row[len(row)-1], width, indent) + "\n")
			}
		case t.head && first+i == 0: // list prints the name of the column before each cell
		default:
			t.list(out, row, width)
		}
	}
}

// measure returns the width of each column, of all columns but the last with their gaps, and of the
// whole table.
func (t *Table) measure() (widths []int, others, all int) {
	for _, row := range slices.Concat(t.rows, t.room) {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for i, n := range widths {
		all += n
		if i < len(widths)-1 {
			all += gap
			others = all
		}
	}
	return widths, others, all
}

// cell returns a cell with its color.
func (t *Table) cell(column int, text string) string {
	if t.Paint == nil {
		return text
	}
	return t.Paint(column, text)
}

// line prints a row on one line.
func (t *Table) line(out *strings.Builder, row []string, widths []int) {
	for len(row) > 0 && row[len(row)-1] == "" {
		row = row[:len(row)-1]
	}
	for i, text := range row {
		out.WriteString(t.cell(i, text))
		if i < len(row)-1 {
			out.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(text)+gap))
		}
	}
	out.WriteByte('\n')
}

// folded prints a row with its last cell folded beside the others.
func (t *Table) folded(out *strings.Builder, row []string, widths []int, others, width int) {
	if len(row) < len(widths) {
		t.line(out, row, widths)
		return
	}
	lines := strings.Split(Fold(row[len(row)-1], width-others, 0), "\n")
	row = append(append([]string(nil), row[:len(row)-1]...), lines[0])
	t.line(out, row, widths)
	for _, rest := range lines[1:] {
		out.WriteString(strings.Repeat(" ", others) + rest + "\n")
	}
}

// list prints a row with a line for each cell.
func (t *Table) list(out *strings.Builder, row []string, width int) {
	for i, text := range row {
		if text == "" {
			continue
		}
		lead, name := "", ""
		if i > 0 {
			lead = strings.Repeat(" ", indent)
			if t.head && i < len(t.rows[0]) && t.rows[0][i] != "" {
				name = t.rows[0][i] + ": "
			}
		}
		folded := Fold(lead+name+text, width, 2*indent)
		out.WriteString(t.paintLast(folded, i, text) + "\n")
	}
}

// paintLast colors the cell at the end of a line.
func (t *Table) paintLast(line string, column int, text string) string {
	if before, ok := strings.CutSuffix(line, text); ok {
		return before + t.cell(column, text)
	}
	return line
}
