package doc

import (
	"fmt"
	"html/template"
)

// Plot is a plot with its description, legend and values.
type Plot struct {
	ID      string
	Title   Cell
	Caption []Cell
	SVG     template.HTML
	Legend  []Mark
	Data    *Folded
}

// Mark is an entry of a legend.
type Mark struct {
	Class string
	Name  Cell
}

// SeriesMark is the entry of a series of lines; with the prefix "box " or "dash " of another mark.
func SeriesMark(prefix string, i int, name Cell) Mark {
	return Mark{fmt.Sprintf("%sc%d", prefix, i%6+1), name}
}

// Figures is a group of plots.
type Figures struct {
	Plots  []Plot
	Small  bool   // small multiples
	Legend []Mark // of all plots

	doc *Doc
}

func (f *Figures) empty() bool { return f == nil || len(f.Plots) == 0 }

// Figures returns an empty group of plots.
func (d *Doc) Figures() *Figures { return &Figures{doc: d} }

// Add draws a plot; the description is for readers who do not see it. An empty plot is left out.
func (f *Figures) Add(c *Chart, p Plot, description string) *Figures {
	f.doc.plots++
	p.ID = fmt.Sprintf("p%d", f.doc.plots)
	if p.SVG = c.draw(p.ID, p.Title.Number, description); p.SVG != "" {
		f.Plots = append(f.Plots, p)
	}
	return f
}
