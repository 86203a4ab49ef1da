package report

import (
	"fmt"
	"math"

	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/page"
)

func modelTable(caption string) *table {
	return &table{Caption: caption, Columns: columns("model", "#compile", "#load", "#p50", "#p99", "#max error",
		"#copied", ">error")}
}

func modelRow(m *value) []cell {
	return []cell{texts(m.at("name")), nanoseconds(m.at("compile_ns")), nanoseconds(m.at("load_ns")),
		nanoseconds(m.at("evaluate_p50_ns")), nanoseconds(m.at("evaluate_p99_ns")), plain(m.at("max_error")),
		size(m.at("bytes_copied")), texts(m.at("error"))}
}

// series2 is the models of an engine.
type series2 struct {
	name   string
	models *value
}

// check shows the models of each engine.
func (b *builder) check(d *value) {
	engines := d.at("engines")
	var tables []block
	var all []series2
	for _, e := range engines.items {
		t := modelTable("Models on " + page.Visible(e.at("engine").raw))
		for _, m := range e.at("models").items {
			t.add(modelRow(m)...)
		}
		tables = append(tables, tableBlock(t))
		all = append(all, series2{page.Visible(e.at("engine").raw), e.at("models")})
	}
	b.section("Models", nil, append(tables, block{Plots: b.latencies(all), Small: true})...)
}

// latencies draws how long the evaluations of each model took, a plot for each model with all engines.
func (b *builder) latencies(engines []series2) (plots []plotted) {
	var order []string
	by := map[string][]*value{}
	for k, e := range engines {
		for _, m := range e.models.items {
			name := m.at("name").raw
			if by[name] == nil {
				order = append(order, name)
				by[name] = make([]*value, len(engines))
			}
			by[name][k] = m.at("latency")
		}
	}
	for _, name := range order {
		c := &chart{width: 168, height: 84, x: axis{form: durationOf(1), log: true}, y: axis{zero: true,
			ticks: nil}}
		c.y.ticks = []plotTick{}
		p := plotted{Title: page.Visible(name)}
		for k, l := range by[name] {
			if l == nil || l.kind != object {
				continue
			}
			c.bars(floats(l.at("edges_ns")), floats(l.at("counts")), k)
			if len(engines) > 1 {
				p.Legend = append(p.Legend, mark{fmt.Sprintf("c%d", k%6+1), engines[k].name})
			}
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
	c.x.ticks = []plotTick{{Value: low, Label: "  " + c.x.text(low)}, {Value: high, Label: c.x.text(high) + "  "}}
	_ = math.Pi
}

// latency draws the histogram of one program, with a table of it.
func (b *builder) latency(title string, e *value) []plotted {
	l := e.at("latency")
	c := &chart{height: 150, x: axis{form: durationOf(1), log: true}, y: axis{zero: true}}
	c.bars(floats(l.at("edges_ns")), floats(l.at("counts")), 0)
	return b.plot(nil, c, plotted{Title: title, Caption: sentence("how many took how long")},
		"Histogram of the times of evaluations.")
}
