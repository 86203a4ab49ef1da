package trial

import (
	"fmt"
	"strings"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/doc"
)

// ShowLatency adds a plot for each model that engines have evaluated, with the times on each engine.
func ShowLatency(d *doc.Doc, engines []*doc.Value) {
	var order []*doc.Value
	latencies := map[string][]*doc.Value{}
	plots := d.Figures()
	plots.Small = true
	for i, e := range engines {
		plots.Legend = append(plots.Legend, doc.SeriesMark("", i, e.Text("engine")))
		for _, m := range e.Items("models") {
			name := m.At("name").Raw
			if latencies[name] == nil {
				order, latencies[name] = append(order, m), make([]*doc.Value, len(engines))
			}
			latencies[name][i] = m.At("latency")
		}
	}
	for _, m := range order {
		AddTimes(plots, m.Text("name"), latencies[m.At("name").Raw]...)
	}
	d.Page("Latency", doc.Line("How many evaluations took how long, from the shortest to the longest."), plots)
}

// AddTimes adds a small plot of the Latencies of a model, each in the color of its series. A nil one has none.
func AddTimes(plots *doc.Figures, model doc.Cell, latencies ...*doc.Value) {
	x := doc.Axis{Form: doc.DurationOf(1), Log: true, Ends: true}
	c := &doc.Chart{Width: 168, Height: 84, X: x, Y: doc.Bare()} // the heights compare bins, not models
	for i, l := range latencies {
		if l != nil {
			c.Bars(l.At("edges_ns").Floats(), l.At("counts").Floats(), i)
		}
	}
	plots.Add(c, doc.Plot{Title: model}, "Histogram of the times of evaluations.")
}

// maxSurfaces bounds the surfaces that are drawn.
const maxSurfaces = 60

// ShowSurfaces adds how much of each Surface of programs holds values, padding between rows, and nothing. A program has
// its name, which may be missing, and surfaces.
func ShowSurfaces(d *doc.Doc, programs ...*doc.Value) {
	t := doc.NewTable("Surfaces", "tensor", "program", "side", "type", "shape", "#rows", "#values of a row",
		"#row stride", "#values", "#with padding", "#surface")
	var labels []string
	var drawn []*doc.Value
	for _, p := range programs {
		for _, s := range p.Items("surfaces") {
			t.Row(s.Text("tensor"), p.Text("name"), s.Text("side"), s.Text("dtype"), s.Shape("shape"), s.Plain("rows"),
				s.Size("row_bytes"), s.Size("row_stride"), s.Size("value_bytes"), s.Size("tensor_bytes"),
				s.Size("surface_bytes"))
			if s.At("surface_bytes").Float() > 0 && len(drawn) < maxSurfaces {
				drawn = append(drawn, s)
				labels = append(labels, strings.TrimSpace(p.Text("name").Number+" "+s.Text("tensor").Number))
			}
		}
	}
	c := doc.Rows(doc.Axis{Form: doc.DigitsOf("%")}, labels)
	c.Height = 30 + 13*float64(len(labels))
	for i, s := range drawn {
		y, from, whole := -float64(i), 0.0, s.At("surface_bytes").Float()
		for k, color := range []doc.Color{doc.Series(0), doc.Series(1), doc.Rule} {
			to := 100 * s.At([]string{"value_bytes", "tensor_bytes", "surface_bytes"}[k]).Float() / whole
			c.Rectangle(from, y-.34, to, y+.34, color)
			from = to
		}
	}
	p := doc.Plot{Title: doc.Words("Memory map"), Caption: doc.Line("shares of the surface that the engine maps"),
		Legend: []doc.Mark{doc.SeriesMark("box ", 0, doc.Words("values")), doc.SeriesMark("box ", 1, doc.Words("padding")),
			{Class: "box rest", Name: doc.Words("rest of the surface")}}}
	if len(drawn) < len(t.Rows) {
		p.Caption = append(p.Caption, doc.Words("; the table has more"))
	}
	plots := d.Figures().Add(c, p, fmt.Sprintf("A bar for each of %d surfaces: values, padding, and the rest.",
		len(drawn)))
	d.Page("Surfaces", doc.Line("Rows are padded to the stride that the engine asks for; each tensor has a surface of ",
		"its own."), plots, doc.Folded{Summary: "All surfaces", Table: t})
}
