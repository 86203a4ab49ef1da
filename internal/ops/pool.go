package ops

// pools take the maximum, the mean or the norm of a window. Attrs is a Window.
var pools = []Def{
	{Name: "l2_pool", support: support{memory: some}, limits: poolLimits, Params: poolParams(), infer: inferPool},
	{Name: "max_pool", support: support{memory: some, instead: "take the maximum of slices"}, limits: poolLimits,
		Params: poolParams(), infer: inferPool},
	{Name: "avg_pool", support: support{memory: some, instead: "use a convolution with equal weights, one group for " +
		"each channel"}, limits: poolLimits,
		Params: append(poolParams(), option("exclude_padding_from_average")), infer: inferPool},
}

func poolParams() []Param {
	return []Param{tensor("x"), setting("kernel_sizes"), option("strides"), option("pad_type"), option("pad"),
		option("ceil_mode")}
}

func inferPool(c *Call) {
	x := c.tensor("x")
	c.needs("x", floats...)
	c.fp32(x.DType)
	if c.spatial(x); c.failed() {
		return
	}
	w := Window{In: x.Shape[2:], Groups: x.Shape[1]}
	w.Kernel = c.ints("kernel_sizes", len(w.In), nil)
	w.ExcludePadding = c.boolean("exclude_padding_from_average", false)
	ceil := c.boolean("ceil_mode", false)
	if c.failed() {
		return
	}
	c.slide(&w, ceil)
	for i := range w.Before {
		if !c.failed() && max(w.Before[i], w.After[i]) >= w.Kernel[i] {
			c.fail("pad", "pad by less than the kernel", "a window would hold padding alone")
		}
	}
	c.attrs = w
	c.gives(x.DType, append([]int{x.Shape[0], x.Shape[1]}, w.Out...))
}
