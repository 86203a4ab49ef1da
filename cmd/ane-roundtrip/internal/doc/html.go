package doc

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
)

//go:embed style.css
var style string

//go:embed page.gohtml
var layout string

// Write writes the page of an object that a command prints with --json. It fails if the object is not JSON, or w
// fails. An object with less than expected, such as that of a failure, gives a page with less. The view may be nil.
func Write(w io.Writer, object []byte, view View) error {
	root, err := parse(object)
	if err != nil {
		return err
	}
	d := &Doc{Root: root}
	d.head()
	d.failure()
	if view != nil {
		view(d, root.At("details"))
	}
	d.unproved()
	d.tail()
	t, err := template.New("page").Funcs(template.FuncMap{"kind": kindOf}).Parse(layout)
	if err != nil {
		return fmt.Errorf("doc: %w", err)
	}
	return t.Execute(w, d.page())
}

// sheet is what the template prints.
type sheet struct {
	*Doc
	Style                        template.CSS
	Command, Word, Tone, Verdict any
	About, Foot                  []Cell
	Sections                     []pageSection
}

// pageSection is a section of a page.
type pageSection struct {
	ID, Heading string
	Intro       []Cell
	Blocks      []Block
}

func (d *Doc) page() sheet {
	s := sheet{Doc: d, Style: template.CSS(style), Command: d.Root.Text("command").Number, Word: d.word, Tone: d.tone,
		Verdict: d.verdict, About: d.about, Foot: d.foot}
	for _, one := range d.sections {
		if one.on == viewers {
			continue
		}
		id := fmt.Sprintf("s%d", len(s.Sections)+1)
		s.Sections = append(s.Sections, pageSection{id, one.heading, one.intro, one.blocks})
	}
	return s
}

// kindOf names the kind of a block for the template.
func kindOf(b Block) string {
	switch b.(type) {
	case Lines:
		return "lines"
	case Facts, Remarks:
		return "facts"
	case *Table:
		return "table"
	case Folded:
		return "folded"
	}
	return "figures"
}
