package doc

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/fatih/color"

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
		for _, b := range s.Blocks {
			p.block(b)
		}
	}
	return p.err
}

// printer prints blocks, with an empty line around tables and facts, but none between a table and a line of one section.
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
		t := NewTable("", "", "")
		for _, f := range b.on(viewers) {
			t.Row(Words("%s", f.Name), Words("%s", join(f.What, func(_ Cell, text string) string { return text })))
		}
		p.table(t, true)
	case Remarks:
		for _, f := range b.Shown() {
			if len(f.What) > 0 {
				f.Name += ": "
			}
			p.lines(Text(f.Name, f.What))
		}
	case *Table:
		p.table(b, p.gap || p.after)
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
			_, p.err = fmt.Fprintln(p.w, page.Fold(join(line, painter(p.w)), p.width, 2))
		}
	}
}

func (p *printer) table(t *Table, gap bool) {
	p.separate(gap)
	p.after = true
	if p.err == nil {
		p.err = t.Print(p.w, p.width)
	}
}

// join is the text of a line.
func join(line []Cell, paint painting) (text string) {
	for _, c := range line {
		text += paint(c, c.String())
	}
	return text
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

// painting colors the text of a cell.
type painting func(c Cell, text string) string

// painter colors statuses where w is a terminal.
func painter(w io.Writer) painting {
	return func(c Cell, text string) string {
		if !strings.HasPrefix(c.Class, "status ") {
			return text
		}
		return Paint(w, text)
	}
}

// Paint colors a status or verdict on a terminal, unless NO_COLOR is set or TERM is dumb.
func Paint(w io.Writer, status string) string {
	_, terminal := page.Terminal(w)
	attributes := colors()[status]
	if !terminal || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" || attributes == nil {
		return status
	}
	c := color.New(attributes...)
	c.EnableColor() // the package would check standard output, but the text may go elsewhere
	return c.Sprint(status)
}

// colors are those of statuses and verdicts.
func colors() map[string][]color.Attribute {
	red, yellow := []color.Attribute{color.FgRed, color.Bold}, []color.Attribute{color.FgYellow}
	return map[string][]color.Attribute{"pass": {color.FgGreen}, "fail": red, "missed": red, "skip": yellow,
		"unavailable": yellow}
}
