package report

import (
	"fmt"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/page"
)

func modelTable(caption string) *table {
	return &table{Caption: caption, Columns: columns("model", "#compile", "#load", "#p50", "#p99", "#max error",
		"#reached through a copy", ">error")}
}

func modelRow(m *value) []cell {
	return []cell{texts(m.at("name")), nanoseconds(m.at("compile_ns")), nanoseconds(m.at("load_ns")),
		nanoseconds(m.at("evaluate_p50_ns")), nanoseconds(m.at("evaluate_p99_ns")), plain(m.at("max_error")),
		size(m.at("bytes_copied")), texts(m.at("error"))}
}

// engineModels is the models of an engine.
type engineModels struct {
	cell   cell
	models *value
}

// check shows the models of each engine.
func (b *builder) check(d *value) {
	engines := d.at("engines")
	for _, k := range []struct {
		check, name string
		form        func(*value) cell
	}{{"memory/copies", "tensors reached through a copy", size}, {"memory/neighbours", "bytes written beside tensors", size},
		{"memory/growth", "growth of memory", size}, {"memory/closed", "surfaces left open", plain}} {
		for _, c := range b.root.at("checks").items {
			if c.at("name").is(k.check) && c.at("value").here() {
				b.doc.Keys = append(b.doc.Keys, entry{k.name, []cell{k.form(c.at("value"))}})
			}
		}
	}
	var tables []block
	var all []engineModels
	for _, e := range engines.items {
		t := modelTable("Models on " + page.Visible(e.at("engine").raw))
		for _, m := range e.at("models").items {
			t.add(modelRow(m)...)
		}
		tables = append(tables, tableBlock(t))
		all = append(all, engineModels{texts(e.at("engine")), e.at("models")})
	}
	b.section("Models", nil, tables...)
	b.guests(d.at("guests"))
	var legend []mark
	for k, e := range all {
		legend = append(legend, mark{fmt.Sprintf("c%d", k%6+1), e.cell})
	}
	b.section("Latency", sentence("How many evaluations took how long, from the shortest to the longest."),
		block{Plots: b.latencies(all), Small: true, Legend: legend})
	b.timeline(d.at("timeline"))
	b.memory(engines)
	var maps []surfaceRows
	for _, m := range d.at("models").items {
		maps = append(maps, surfaceRows{texts(m.at("name")), m.at("surfaces")})
	}
	b.surfaces(maps)
	b.gpu(d.at("gpu"))
}

// gpu shows the GPU of --gpu.
func (b *builder) gpu(g *value) {
	if !g.here() {
		return
	}
	b.section("GPU", nil, block{Entries: []entry{
		{"device", []cell{texts(g.at("name"))}}, {"driver", []cell{texts(g.at("driver"))}},
		{"kind", []cell{texts(g.at("kind"))}}, {"interface", []cell{texts(g.at("api"))}},
		{"id", []cell{code(g.at("id"))}}, {"road of a Block", []cell{texts(g.at("road"))}},
		{"alignment", []cell{size(g.at("alignment_bytes"))}},
	}})
}

// latencies draws how long the evaluations of each model took, a plot for each model with all engines.
func (b *builder) latencies(engines []engineModels) (plots []plotted) {
	var order []string
	by, title := map[string][]*value{}, map[string]cell{}
	for k, e := range engines {
		for _, m := range e.models.items {
			name := m.at("name").raw
			if by[name] == nil {
				order, title[name] = append(order, name), texts(m.at("name"))
				by[name] = make([]*value, len(engines))
			}
			by[name][k] = m.at("latency")
		}
	}
	for _, name := range order {
		c := &chart{width: 168, height: 84, x: axis{form: durationOf(1), log: true}, y: axis{}}
		c.y.ticks = []tick{} // the heights compare bins, not models
		p := plotted{Title: title[name]}
		for k, l := range by[name] {
			if l == nil || l.kind != object {
				continue
			}
			c.bars(floats(l.at("edges_ns")), floats(l.at("counts")), k)
		}
		c.ends()
		plots = b.plot(plots, c, p, "Histogram of the times of evaluations.")
	}
	return plots
}

// ends labels the axis of times at its ends.
func (c *chart) ends() {
	if !c.ranged {
		return
	}
	low, high := c.x.span(c.x0, c.x1)
	c.x.ticks = []tick{{Value: low, Label: c.x.text(low)}, {Value: high, Label: c.x.text(high)}}
}

// latency draws the histogram of one program, with a table of it.
func (b *builder) latency(title string, e *value) []plotted {
	l := e.at("latency")
	c := &chart{height: 150, x: axis{form: durationOf(1), log: true}, y: axis{}}
	c.bars(floats(l.at("edges_ns")), floats(l.at("counts")), 0)
	return b.plot(nil, c, plotted{Title: words("%s", title), Caption: sentence("how many took how long")},
		"Histogram of the times of evaluations.")
}
