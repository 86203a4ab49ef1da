package timeline

import (
	"math"
	"slices"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/doc"
)

// Show adds the plots of a Record, which may be missing: its spans, a row for each kind, and the memory of its buffers.
func Show(d *doc.Doc, record *doc.Value) {
	spans := record.Items("spans")
	plots := d.Figures()
	list := doc.NewTable("Spans", "row", "span", "program", "#start", "#time")
	seen := map[string]bool{}
	from, end := math.Inf(1), 0.0 // what comes before the first evaluation is in the table
	for _, s := range spans {
		start := s.At("start_ns").Float()
		end = max(end, start+s.At("duration_ns").Float())
		if seen[s.At("row").Raw] = true; s.At("row").Is("engine") {
			from = min(from, start)
		}
		list.Row(s.Text("row"), s.Text("name"), s.Text("program"), s.Time("start_ns"), s.Time("duration_ns"))
	}
	if math.IsInf(from, 1) {
		from = 0
	}
	from = max(0, from-.03*(end-from))
	rows := slices.DeleteFunc([]string{"submissions", "engine", "copies"}, func(row string) bool { return !seen[row] })
	c := doc.Rows(doc.Axis{Form: doc.DurationOf(1)}, rows)
	c.Height = 100
	for _, s := range spans {
		row := slices.Index(rows, s.At("row").Raw)
		start := s.At("start_ns").Float() - from
		over := start + s.At("duration_ns").Float()
		if row >= 0 && over > 0 {
			c.Rectangle(max(0, start), -float64(row)-.32, over, -float64(row)+.32, doc.Series(row))
		}
	}
	plots.Add(c, doc.Plot{Title: doc.Words("Spans"),
		Caption: doc.Line("submissions, the engine and copies, from just before the first evaluation on"),
		Data:    &doc.Folded{Summary: "All spans", Table: list}}, "A row for each kind of span over the time of the timeline.")
	showMemory(plots, record.Items("memory"), end)
	d.Page("Engine spans", doc.Line("One more evaluation of each program, on a timeline with memory in its order."), plots)
}

// showMemory adds the memory of the buffers up to a time in nanoseconds.
func showMemory(plots *doc.Figures, points []*doc.Value, end float64) {
	buffers := doc.Curve{Color: doc.Series(1), Step: true}
	list := doc.NewTable("Memory of buffers", "from", "#bytes")
	for _, p := range points {
		buffers.X, buffers.Y = append(buffers.X, p.At("at_ns").Float()), append(buffers.Y, p.At("bytes").Float())
		list.Row(p.Time("at_ns"), p.Size("bytes"))
	}
	if len(points) == 0 {
		return
	}
	buffers.X, buffers.Y = append(buffers.X, end), append(buffers.Y, buffers.Y[len(points)-1])
	c := &doc.Chart{X: doc.Axis{Form: doc.DurationOf(1)}, Y: doc.Bytes(slices.Max(buffers.Y)), Height: 118}
	c.Add(buffers)
	plots.Add(c, doc.Plot{Title: doc.Words("Memory of the buffers"),
		Caption: doc.Line("allocated and freed in the order of the timeline"),
		Data:    &doc.Folded{Summary: "Figures", Table: list}}, "Memory of the buffers of the timeline over its time.")
}
