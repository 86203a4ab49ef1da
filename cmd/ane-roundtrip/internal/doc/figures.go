package doc

import (
	"fmt"
	"html/template"
	"regexp"
	"strings"
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

// Drawing returns the plots of a section of an object's page as one SVG, with their legends, in the colors of paper.
func Drawing(object []byte, view View, heading string) (string, error) {
	root, err := parse(object)
	if err != nil {
		return "", err
	}
	d := &Doc{Root: root}
	view(d, root.At("details"))
	var out strings.Builder
	y := 24.0
	text := func(x, y float64, color, content string) {
		fmt.Fprintf(&out, `<text x="%g" y="%g" fill="var(%s)">%s</text>`, x, y, color, template.HTMLEscapeString(content))
	}
	for _, s := range d.sections {
		for _, b := range s.Blocks {
			f, ok := b.(*Figures)
			if !ok || s.Heading != heading {
				continue
			}
			for _, p := range f.Plots {
				text(4, y, "--ink", p.Title.String())
				size := fmt.Sprintf(`<svg y="%g" width="%g" height="%g"`, y+8, wide, tall)
				out.WriteString(strings.Replace(string(p.SVG), "<svg", size, 1))
				for i, m := range p.Legend {
					text(wide+16, y+float64(24+16*i), "--s"+strings.TrimPrefix(m.Class, "c"), m.Name.String())
				}
				y += tall + 60
			}
		}
	}
	drawing := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%g" height="%g" font-family="sans-serif" `+
		`font-size="12"><rect width="100%%" height="100%%" fill="white"/>%s</svg>`+"\n", wide+156, y, out.String())
	light, _, _ := strings.Cut(style, "@media")
	for _, v := range regexp.MustCompile(`(--\w+): (#\w+);`).FindAllStringSubmatch(light, -1) {
		drawing = strings.ReplaceAll(drawing, "var("+v[1]+")", v[2])
	}
	return drawing, nil
}
