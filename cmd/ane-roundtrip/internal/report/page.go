package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strconv"
)

//go:embed style.css
var style string

//go:embed page.gohtml
var layout string

// document is the page that the template prints.
type document struct {
	Style    template.CSS
	Command  string
	Verdict  cell
	Word     string // of the verdict, as a heading
	Tone     string // the class of the heading
	Summary  []cell
	About    []cell // a line below the verdict
	Keys     []entry
	Sections []section
	Foot     []cell
}

// section is a part of the page with a heading.
type section struct {
	ID, Heading string
	Intro       []cell
	Blocks      []block
}

// block is one of a list of entries, a table, a group of plots or a paragraph.
type block struct {
	Entries []entry
	Table   *table
	Plots   []plotted
	Small   bool   // small multiples
	Legend  []mark // of all plots
	Text    []cell
	Folded  *folded
}

// folded is a table that the reader opens.
type folded struct {
	Summary string
	Table   *table
}

// entry is a name with what belongs to it.
type entry struct {
	Name string
	What []cell
}

// column is the head of a column of a table.
type column struct {
	Name  string
	Class string // num for numbers, code, wide, or none
}

// table is a table with a caption.
type table struct {
	Caption string
	Columns []column
	Rows    []row
}

// row is a row of a table. Head is the cell that names it.
type row struct {
	Class string
	Cells []cell
}

// plotted is a plot with its description, legend and values.
type plotted struct {
	ID      string
	Title   cell
	Caption []cell
	SVG     template.HTML
	Legend  []mark
	Data    *folded
}

// mark is an entry of a legend.
type mark struct {
	Class string
	Name  cell
}

// columns returns columns from names. A name that begins with # is that of numbers, with > that of long texts.
func columns(names ...string) []column {
	all := make([]column, len(names))
	for i, n := range names {
		switch n[:min(1, len(n))] {
		case "#":
			all[i] = column{n[1:], "num"}
		case ">":
			all[i] = column{n[1:], "wide"}
		default:
			all[i] = column{Name: n}
		}
	}
	return all
}

// add adds a row.
func (t *table) add(cells ...cell) { t.Rows = append(t.Rows, row{Cells: cells}) }

// without leaves out the columns in which every row is empty.
func (t *table) without() *table {
	kept := table{Caption: t.Caption, Rows: make([]row, len(t.Rows))}
	for i, c := range t.Columns {
		used := i == 0
		for _, r := range t.Rows {
			used = used || i < len(r.Cells) && r.Cells[i].Number != ""
		}
		if !used {
			continue
		}
		kept.Columns = append(kept.Columns, c)
		for k, r := range t.Rows {
			one := cell{}
			if i < len(r.Cells) {
				one = r.Cells[i]
			}
			kept.Rows[k].Class = r.Class
			kept.Rows[k].Cells = append(kept.Rows[k].Cells, one)
		}
	}
	return &kept
}

// tableBlock is a block with a table, without its empty columns.
func tableBlock(t *table) block { return block{Table: t.without()} }

// builder collects the sections of a page.
type builder struct {
	root  *value
	doc   document
	plots int
}

func (b *builder) section(heading string, intro []cell, blocks ...block) {
	var kept []block
	for _, one := range blocks {
		if one.Table != nil && len(one.Table.Rows) == 0 || one.Plots != nil && len(one.Plots) == 0 {
			continue
		}
		if one.Table == nil && one.Plots == nil && one.Entries == nil && one.Text == nil && one.Folded == nil {
			continue
		}
		kept = append(kept, one)
	}
	if len(kept) == 0 {
		return
	}
	b.doc.Sections = append(b.doc.Sections, section{ID: "s" + strconv.Itoa(len(b.doc.Sections)+1), Heading: heading,
		Intro: intro, Blocks: kept})
}

// sentence is a list of cells for a line of text: strings are words of the page.
func sentence(parts ...any) (all []cell) {
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			all = append(all, cell{Number: p})
		case cell:
			all = append(all, p)
		}
	}
	return all
}

// Write draws the object, which a command prints with --json, as a page. It fails if the object is not JSON, or w
// fails. An object with less than expected, such as that of a failure, gives a page with less.
func Write(w io.Writer, object []byte) error {
	root, err := parse(object)
	if err != nil {
		return err
	}
	b := &builder{root: root}
	b.build()
	t, err := template.New("page").Funcs(template.FuncMap{"label": func(c []column, i int) string {
		if i < len(c) {
			return c[i].Name
		}
		return ""
	}, "class": func(c []column, i int) string {
		if i < len(c) {
			return c[i].Class
		}
		return ""
	}}).Parse(layout)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	b.doc.Style = template.CSS(style)
	return t.Execute(w, b.doc)
}
