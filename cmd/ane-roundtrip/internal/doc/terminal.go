package doc

import (
	"fmt"
	"io"
	"strings"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/page"
)

// Terminal prints an object as its view lays it out, at the width of the terminal or of COLUMNS.
func Terminal(w io.Writer, object []byte, view View) error {
	root, err := parse(object)
	if err != nil {
		return err
	}
	d := &Doc{Root: root}
	view(d, root.At("details"))
	p := printer{w: w, width: page.Width(w)}
	for _, s := range d.sections {
		if s.on == readers {
			continue
		}
		p.gap = true
		for _, b := range s.blocks {
			p.block(b)
		}
	}
	return p.err
}

// printer prints blocks, with an empty line around tables, but none between a table and a line of one section.
type printer struct {
	w     io.Writer
	width int
	began bool
	gap   bool // the next block begins a section
	after bool // the last block was a table
	err   error
}

func (p *printer) block(b Block) {
	switch b := b.(type) {
	case Lines:
		p.lines(b)
	case Facts:
		t := page.NewTable()
		for _, f := range b.Shown() {
			t.Row(f.Name, plain(f.What))
		}
		p.table(t)
	case Remarks:
		for _, f := range b.Shown() {
			if len(f.What) > 0 {
				f.Name += ": "
			}
			p.lines(Text(f.Name, f.What))
		}
	case *Table:
		p.table(b.terminal(p.w))
	}
}

func (p *printer) separate(gap bool) {
	if p.began && gap && p.err == nil {
		_, p.err = fmt.Fprintln(p.w)
	}
	p.began, p.gap = true, false
}

func (p *printer) lines(all Lines) {
	p.separate(p.gap && p.after)
	p.after = false
	for _, line := range all {
		if p.err == nil {
			_, p.err = fmt.Fprintln(p.w, page.Fold(paintAll(p.w, line), p.width, 2))
		}
	}
}

func (p *printer) table(t *page.Table) {
	p.separate(true)
	p.after = true
	if p.err == nil {
		p.err = t.Write(p.w, p.width)
	}
}

// terminal returns the table as text.
func (t *Table) terminal(w io.Writer) *page.Table {
	t = t.choose(func(_ int, c column) bool { return !c.page })
	var names []string
	for _, c := range t.Columns {
		names = append(names, c.brief)
	}
	out := page.NewTable(names...)
	out.Paint = func(i int, text string) string {
		if t.status(i) {
			return Paint(w, text)
		}
		return text
	}
	out.Shorten(t.short...)
	if t.group >= 0 {
		out.Group(t.group)
	}
	for _, row := range t.Rows {
		var cells []string
		for i, c := range row {
			text := plain([]Cell{c})
			if text == "" && t.Columns[i].Class != "wide" {
				text = "-"
			}
			cells = append(cells, text)
		}
		out.Row(cells...)
	}
	return out
}

// plain is a line as ASCII as its texts are: numbers without separators, minus as a hyphen.
func plain(line []Cell) string {
	var out strings.Builder
	for _, c := range line {
		out.WriteString(c.String())
	}
	return out.String()
}

// asText changes the signs that numbers have on a page.
var asText = strings.NewReplacer(minus, "-", ",", "", dash, "-", "≤ ", "<= ", "≥ ", ">= ")

// String is the cell as a terminal shows it.
func (c Cell) String() string {
	if c.brief != "" {
		return c.brief
	}
	if !c.Figure() {
		if c.Unit != "" {
			return c.Number + " " + c.Unit
		}
		return c.Number
	}
	text := asText.Replace(c.Number)
	switch c.Unit {
	case "":
		return text
	case "×":
		return text + "x"
	case "/s":
		return text + c.Unit
	}
	return text + " " + c.Unit
}

// paintAll is a line with statuses in color.
func paintAll(w io.Writer, line []Cell) string {
	var out strings.Builder
	for _, c := range line {
		text := c.String()
		if strings.HasPrefix(c.Class, "status ") {
			text = Paint(w, text)
		}
		out.WriteString(text)
	}
	return out.String()
}

// Paint colors a status or verdict on a terminal: green for pass, red for fail and missed, yellow for skip and
// unavailable.
func Paint(w io.Writer, status string) string {
	if !page.Colored(w) {
		return status
	}
	switch status {
	case "pass":
		return page.Green.Paint(status)
	case "fail", "missed":
		return page.Red.Paint(status)
	case "skip", "unavailable":
		return page.Yellow.Paint(status)
	}
	return status
}
