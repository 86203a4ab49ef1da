package doc

import (
	"io"
	"os"
	"strings"

	"github.com/fatih/color"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/terminal"
)

// Terminal prints an object as its view lays it out, at the width of the terminal or of COLUMNS.
func Terminal(w io.Writer, object []byte, view View) error {
	root, err := parse(object)
	if err != nil {
		return err
	}
	d := &Doc{Root: root}
	view(d, root.At("details"))
	p := printer{width: terminal.Width(w), paint: painter(w)}
	for _, s := range d.sections {
		if s.on == readers {
			continue
		}
		p.begins = true
		for _, b := range s.Blocks {
			p.block(b)
		}
	}
	_, err = io.WriteString(w, p.String())
	return err
}

// printer collects blocks, with an empty line around tables and facts, but none between a line and a table of one
// section.
type printer struct {
	strings.Builder
	width  int
	paint  painting
	begins bool // the next block begins a section
	table  bool // the last block was a table
}

func (p *printer) block(b Block) {
	switch b := b.(type) {
	case Lines:
		for _, line := range b {
			p.add(terminal.Fold(join(line, p.paint), p.width, 2)+"\n", p.begins && p.table, false)
		}
	case Facts:
		t := NewTable("", "", "")
		for _, f := range b.on(viewers) {
			t.Row(Words("%s", f.Name), Words("%s", join(f.What, func(_ Cell, text string) string { return text })))
		}
		p.add(t.text(p.width, p.paint), true, true)
	case Remarks:
		for _, f := range b.Shown() {
			if len(f.What) > 0 {
				f.Name += ": "
			}
			p.block(Text(f.Name, f.What))
		}
	case *Table:
		p.add(b.text(p.width, p.paint), p.begins || p.table, true)
	}
}

// add adds a text, after an empty line if that is wanted.
func (p *printer) add(text string, gap, table bool) {
	if gap && p.Len() > 0 {
		p.WriteByte('\n')
	}
	p.WriteString(text)
	p.begins, p.table = false, table
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
	_, ok := terminal.Columns(w)
	attributes := colors()[status]
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" || attributes == nil {
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
