package doc

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
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
	return t.Execute(w, d)
}

// Style is the style sheet, for the template.
func (d *Doc) Style() template.CSS { return template.CSS(style) }

// Sections are the parts of the page, for the template.
func (d *Doc) Sections() []section {
	return slices.DeleteFunc(slices.Clone(d.sections), func(s section) bool { return s.on == viewers })
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
