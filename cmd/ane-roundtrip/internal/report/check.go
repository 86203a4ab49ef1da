package report

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
