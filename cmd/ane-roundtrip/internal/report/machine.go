package report

import (
	"fmt"
	"math"
	"slices"
)

// timeline draws the spans of a timeline, a row for each kind, and its memory.
func (b *builder) timeline(t *value) {
	if t.kind != object {
		return
	}
	spans := t.at("spans")
	rows := []string{}
	from := math.Inf(1) // what comes before the first evaluation is in the table
	for _, name := range []string{"submissions", "engine", "copies"} {
		for _, s := range spans.items {
			if s.at("row").is(name) && !slices.Contains(rows, name) {
				rows = append(rows, name)
			}
			if s.at("row").is("engine") {
				from = min(from, s.at("start_ns").float())
			}
		}
	}
	c := &chart{x: axis{form: durationOf(1)}, rows: true, height: 100}
	list := &table{Caption: "Spans", Columns: columns("row", "span", "program", "#start", "#time")}
	programs := &table{Caption: "Evaluations on the engine", Columns: columns("program", "#start", "#time")}
	end := 0.0
	for _, s := range spans.items {
		end = max(end, s.at("start_ns").float()+s.at("duration_ns").float())
	}
	if math.IsInf(from, 1) {
		from = 0
	}
	from = max(0, from-.03*(end-from))
	for _, s := range spans.items {
		i := slices.Index(rows, s.at("row").raw)
		begin, over := s.at("start_ns").float(), s.at("start_ns").float()+s.at("duration_ns").float()
		if i >= 0 && over > from {
			c.rectangle(max(0, begin-from), -float64(i)-.32, over-from, -float64(i)+.32, series(i))
		}
		cells := []cell{nanoseconds(s.at("start_ns")), nanoseconds(s.at("duration_ns"))}
		list.add(append([]cell{texts(s.at("row")), texts(s.at("name")), texts(s.at("program"))}, cells...)...)
		if s.at("row").is("engine") {
			programs.add(append([]cell{texts(s.at("program"))}, cells...)...)
		}
	}
	if len(spans.items) == 0 {
		return
	}
	c.y = names(rows)
	plots := b.plot(nil, c, plotted{Title: words("Spans"), Caption: sentence(
		"submissions, the engine and copies, from just before the first evaluation on"),
		Data: &folded{"All spans", list.without()}}, "A row for each kind of span over the time of the timeline.")
	m := &chart{x: axis{form: durationOf(1)}, y: axis{form: sizeOf}, height: 118}
	buffers := curve{color: series(1), step: true}
	points := &table{Caption: "Memory of buffers", Columns: columns("from", "#bytes")}
	for _, p := range t.at("memory").items {
		buffers.x, buffers.y = append(buffers.x, p.at("at_ns").float()), append(buffers.y, p.at("bytes").float())
		points.add(nanoseconds(p.at("at_ns")), size(p.at("bytes")))
	}
	if len(points.Rows) > 0 {
		buffers.x, buffers.y = append(buffers.x, end), append(buffers.y, buffers.y[len(buffers.y)-1])
		m.y = binary(m.y, most(buffers.y))
		m.add(buffers)
		plots = b.plot(plots, m, plotted{Title: words("Memory of the buffers"), Caption: sentence(
			"allocated and freed in the order of the timeline"), Data: &folded{"Figures", points}},
			"Memory of the buffers of the timeline over its time.")
	}
	blocks := []block{{Plots: plots}}
	if len(programs.Rows) > 1 {
		blocks = append(blocks, tableBlock(programs))
	}
	b.section("Engine spans", sentence("One more evaluation of each program, on a timeline with memory in its order."),
		blocks...)
}

// surfaceRows are the surfaces of a program.
type surfaceRows struct {
	program  cell // empty for the only one
	surfaces *value
}

// maxSurfaces bounds the surfaces that are drawn.
const maxSurfaces = 60

// surfaces draws how much of each surface holds values, padding between rows, and nothing.
func (b *builder) surfaces(all []surfaceRows) {
	t := &table{Caption: "Surfaces", Columns: columns("tensor", "program", "side", "type", "shape", "#rows",
		"#values of a row",
		"#row stride", "#values", "#with padding", "#surface")}
	c := &chart{x: axis{form: digitsPercent}, rows: true}
	var labels []string
	left := 0
	for _, p := range all {
		for _, s := range p.surfaces.items {
			t.add(texts(s.at("tensor")), p.program, texts(s.at("side")), texts(s.at("dtype")), shape(s.at("shape")),
				exactly(s.at("rows"), ""),
				size(s.at("row_bytes")), size(s.at("row_stride")), size(s.at("value_bytes")),
				size(s.at("tensor_bytes")),
				size(s.at("surface_bytes")))
			whole := s.at("surface_bytes").float()
			if whole <= 0 || len(labels) == maxSurfaces {
				left++
				continue
			}
			y := -float64(len(labels))
			values, padded := s.at("value_bytes").float()/whole, s.at("tensor_bytes").float()/whole
			c.rectangle(padded, y-.34, 1, y+.34, line)
			c.rectangle(values, y-.34, padded, y+.34, series(1))
			c.rectangle(0, y-.34, values, y+.34, series(0))
			label := visibleName(s.at("tensor"))
			if p.program.Number != "" {
				label = p.program.Number + " " + label
			}
			labels = append(labels, label)
		}
	}
	if len(t.Rows) == 0 {
		return
	}
	c.y, c.height = names(labels), 30+13*float64(len(labels))
	caption := sentence("shares of the surface that the engine maps")
	if left > 0 {
		caption = append(caption, words("; the table has more"))
	}
	plots := b.plot(nil, c, plotted{Title: words("Memory map"), Caption: caption, Legend: []mark{{"box c1",
		words("values")},
		{"box c2", words("padding")}, {"box rest", words("rest of the surface")}}},
		fmt.Sprintf("A bar for each of %d surfaces: values, padding, and the rest.", len(labels)))
	b.section("Surfaces", sentence("Rows are padded to the stride that the engine asks for; each tensor has a surface "+
		"of its own."), block{Plots: plots}, block{Folded: &folded{"All surfaces", t.without()}})
}

func digitsPercent(f float64) (string, string) { return digits(100 * f), "%" }
