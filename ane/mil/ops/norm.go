package ops

import "slices"

// norms scale values to a mean of 0 and a variance of 1. Attrs is a Norm.
var norms = []Def{
	{Name: "layer_norm", Params: []Param{tensor("x"), perhaps("gamma"), perhaps("beta"), option("axes"),
		option("epsilon")}, infer: func(c *Call) {
		x := c.tensor("x")
		c.needs("x", floats...)
		c.fp32(x.DType)
		axes := c.axes("axes", x.Rank(), []int{-1})
		if len(axes) == 0 && !c.failed() {
			c.fail("axes", "name at least one axis", "none given")
		}
		if c.failed() {
			return
		}
		var shape []int
		for _, a := range axes {
			shape = append(shape, x.Shape[a])
		}
		for _, name := range []string{"gamma", "beta"} {
			if v := c.tensor(name); v != nil {
				c.sameType("x", name)
				if !slices.Equal(v.Shape, shape) {
					c.fail(name, "give it the shape of the normalized axes", "shape %v for axes of shape %v", v.Shape,
						shape)
				}
			}
		}
		c.attrs = Norm{Axes: axes, Epsilon: c.number("epsilon", 1e-5)}
		c.gives(x.DType, x.Shape)
	}},
}

// Norm holds the settings of a normalization.
type Norm struct {
	Axes    []int   // ascending
	Epsilon float64 // added to the biased variance
}
