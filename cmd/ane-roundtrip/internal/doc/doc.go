// Package doc shows the result of a command to people: on a terminal, and as one HTML page.
//
// A command makes one object, which --json prints. Its [View] lays the object out: lines, facts, tables and plots.
// [Terminal] prints them as text, [Write] as a page: the verdict first, then what the view has, receipts and the
// self-check. The object is the only source: each figure of a page keeps its place in it, as a JSON Pointer (RFC 6901),
// and its value as the object has it:
//
//	<data data-json="/details/models/0/evaluate_p50_ns" data-raw="1162" data-unit="ns">1.16 µs</data>
//
// A count of entries has the place of their array and, in data-of, the value that a field of the counted entries has:
//
//	<data data-json="/checks" data-of="status=pass" data-raw="74">74</data>
//
// A text has its place alone; control characters and invisible marks in it are escaped as in Go. Only the labels at
// the axes of plots are no figures of the object. Under each plot a table has the values that it draws.
//
// A page needs nothing but itself: styles are in it, plots are inline SVG, and there is no script. A policy in it
// forbids the browser to load anything. It follows the color scheme of the reader, fits 360 pixels, and prints.
package doc

import (
	"cmp"
	"slices"
	"strings"
)

// View lays out the details of an object, which are missing in that of a failure. A command without a view has a page
// of what all commands have in common.
type View func(d *Doc, details *Value)

// Doc collects what a view lays out.
type Doc struct {
	// Root is the whole object.
	Root *Value
	// Summary is the line below the verdict of a page.
	Summary []Cell
	// Keys are the most important figures, at the head of a page.
	Keys []Fact
	// Unproved is the heading of a page in place of a verdict that has passed, of a command that proves nothing.
	Unproved string

	sheet
	sections []section
	plots    int
}

// sheet is what the page has besides.
type sheet struct {
	Verdict Cell
	Tone    string // the class of the heading
	Word    string // of the verdict, in the title
	About   []Cell // a line below the verdict
	Foot    []Cell
}

// section is a part of a document: of a page with a heading, of a terminal after an empty line.
type section struct {
	on      audience
	Heading string
	Intro   []Cell
	Blocks  []Block
}

// audience says who sees a section.
type audience int

const (
	everybody audience = iota
	readers            // of the page
	viewers            // of the terminal
)

// Block is a table, facts, remarks, figures, or lines of text.
type Block interface {
	empty() bool
}

// Section adds a part with a heading. The intro is for the page alone, as are plots and folded tables.
func (d *Doc) Section(heading string, intro []Cell, blocks ...Block) {
	d.add(section{everybody, heading, intro, blocks})
}

// Page adds a part that the terminal does not show.
func (d *Doc) Page(heading string, intro []Cell, blocks ...Block) {
	d.add(section{readers, heading, intro, blocks})
}

// Terminal adds a part that the page does not show.
func (d *Doc) Terminal(blocks ...Block) { d.add(section{viewers, "", nil, blocks}) }

// Hide leaves out on a terminal what was added so far.
func (d *Doc) Hide() {
	d.sections = slices.DeleteFunc(d.sections, func(s section) bool { return s.on == viewers })
	for i := range d.sections {
		d.sections[i].on = readers
	}
}

// add adds a section without its empty blocks.
func (d *Doc) add(s section) {
	var kept []Block
	for _, b := range s.Blocks {
		if !b.empty() {
			kept = append(kept, b)
		}
	}
	if s.Blocks = kept; len(kept) > 0 {
		d.sections = append(d.sections, s)
	}
}

// Key adds a figure to the head of the page.
func (d *Doc) Key(name string, parts ...any) { d.Keys = append(d.Keys, Named(name, parts...)) }

// Lines are lines of text.
type Lines [][]Cell

func (l Lines) empty() bool { return len(l) == 0 }

// Text is a block with one line.
func Text(parts ...any) Lines { return Lines{Line(parts...)} }

// Fact is a name with what belongs to it.
type Fact struct {
	Name string
	What []Cell
}

// Named is a fact.
func Named(name string, parts ...any) Fact { return Fact{name, Line(parts...)} }

// Facts are facts that a terminal shows as a table. Those of empty cells are left out. A name is as that of a column
// (NewTable): it begins with ~ if only a page has the fact, and after a bar it has the name on a terminal.
type Facts []Fact

func (f Facts) empty() bool { return len(f.Shown()) == 0 }

// Shown lists the facts with text, as a page names them.
func (f Facts) Shown() Facts { return f.on(readers) }

func (f Facts) on(a audience) (all Facts) {
	for _, one := range f {
		name, readersOnly := strings.CutPrefix(one.Name, "~")
		page, brief, _ := strings.Cut(name, "|")
		if one.Name = page; a == viewers {
			one.Name = cmp.Or(brief, page)
		}
		if (a == readers || !readersOnly) &&
			(len(one.What) == 0 || slices.ContainsFunc(one.What, func(c Cell) bool { return c.Number != "" })) {
			all = append(all, one)
		}
	}
	return all
}

// Add adds a fact.
func (f *Facts) Add(name string, parts ...any) { *f = append(*f, Named(name, parts...)) }

// Remarks are facts that a terminal shows as lines, name: text.
type Remarks Facts

func (r Remarks) empty() bool { return Facts(r).empty() }

// Shown lists the remarks with text.
func (r Remarks) Shown() Facts { return Facts(r).Shown() }

// Add adds a remark.
func (r *Remarks) Add(name string, parts ...any) { *r = append(*r, Named(name, parts...)) }

// Folded is a table that the reader of a page opens.
type Folded struct {
	Summary string
	Table   *Table
}

func (f Folded) empty() bool { return f.Table.empty() }
