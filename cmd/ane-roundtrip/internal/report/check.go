package report

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
