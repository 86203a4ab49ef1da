package report

// ends labels the axis of times at its ends.
func (c *chart) ends() {
	if !c.ranged {
		return
	}
	low, high := c.x.span(c.x0, c.x1)
	c.x.ticks = []tick{{Value: low, Label: c.x.text(low)}, {Value: high, Label: c.x.text(high)}}
}
