package doc

import "strings"

// Table is a table with a caption, which the terminal does not show.
type Table struct {
	Caption string
	Columns []column
	Rows    [][]Cell

	short []int
	group int      // -1 for none
	above []string // what holds for all rows

	room    [][]Cell // rows that only widen the columns
	printed int      // rows, by Continue
}

// column is the head of a column.
type column struct {
	Name  string
	Class string // num for numbers, wide for long texts, or none

	page  bool   // not on a terminal
	brief string // on a terminal
}

// NewTable returns a table. The name of a column begins with ~ if only a page has it, and then with # for numbers, or
// > for long texts. After a bar it has the name on a terminal: "~#line", "#time|us".
func NewTable(caption string, columns ...string) *Table {
	t := &Table{Caption: caption, group: -1}
	for _, name := range columns {
		var c column
		name, c.page = strings.CutPrefix(name, "~")
		switch name[:min(1, len(name))] {
		case "#":
			name, c.Class = name[1:], "num"
		case ">":
			name, c.Class = name[1:], "wide"
		}
		if c.Name, c.brief, _ = strings.Cut(name, "|"); c.brief == "" {
			c.brief = c.Name
		}
		t.Columns = append(t.Columns, c)
	}
	return t
}

func (t *Table) empty() bool { return t == nil || len(t.Rows) == 0 }

// Row adds a row. The first cell names it.
func (t *Table) Row(cells ...Cell) { t.Rows = append(t.Rows, cells) }

// Shorten has the cells of columns, such as paths and names, lose their middle where a terminal is too narrow.
func (t *Table) Shorten(columns ...int) *Table {
	t.short = columns
	return t
}

// Group has a table that is too wide for a terminal become one for each value of a column, which stands above it.
func (t *Table) Group(column int) *Table {
	t.group = column
	return t
}

// choose returns the table with some of its columns.
func (t *Table) choose(wanted func(i int, c column) bool) *Table {
	kept := &Table{Caption: t.Caption, Rows: make([][]Cell, len(t.Rows)), room: t.room, group: -1}
	for i, c := range t.Columns {
		if !wanted(i, c) {
			continue
		}
		if i == t.group {
			kept.group = len(kept.Columns)
		}
		for _, s := range t.short {
			if s == i {
				kept.short = append(kept.short, len(kept.Columns))
			}
		}
		kept.Columns = append(kept.Columns, c)
		for k, row := range t.Rows {
			one := Cell{}
			if i < len(row) {
				one = row[i]
			}
			kept.Rows[k] = append(kept.Rows[k], one)
		}
	}
	return kept
}

// Filled returns the table without the columns in which every row is empty.
func (t *Table) Filled() *Table {
	return t.choose(func(i int, _ column) bool {
		for _, row := range t.Rows {
			if i == 0 || i < len(row) && row[i].Number != "" {
				return true
			}
		}
		return i == 0
	})
}
