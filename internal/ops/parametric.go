package ops

import "github.com/anekit/anekit/ane/mil"

// parametrics are activations with one or two numbers. Attrs is a Unary; nil for the operators with a number for
// each channel, whose numbers are operands.
var parametrics = []Def{
	unary("relu6", floats), unary("softsign", floats), unary("softplus", floats),
	alpha("elu"), alpha("leaky_relu"), alpha("thresholded_relu"),
	{Name: "threshold", Params: []Param{tensor("x"), setting("alpha")}, infer: inferThreshold},
	alphaBeta("clamped_relu"), alphaBeta("scaled_tanh"), alphaBeta("sigmoid_hard"), alphaBeta("linear_activation"),
	{Name: "clip", Params: []Param{tensor("x"), setting("alpha"), setting("beta")}, infer: func(c *Call) {
		u := Unary{Alpha: c.number("alpha", 0), Beta: c.number("beta", 0)}
		if u.Alpha >= u.Beta && !c.failed() {
			c.notes = append(c.notes, "compilers of opset ios17 and later refuse an alpha that is not below beta")
		}
		inferUnary(c, floats, u)
	}},
	{Name: "prelu", Params: []Param{tensor("x"), tensor("alpha")}, infer: func(c *Call) {
		inferChannels(c, "alpha")
	}},
	{Name: "softplus_parametric", Cost: Pass, Params: []Param{tensor("x"), tensor("alpha"), tensor("beta")},
		infer: func(c *Call) { inferChannels(c, "alpha", "beta") }},
}

func alpha(name string) Def {
	return Def{Name: name, Params: []Param{tensor("x"), setting("alpha")}, infer: func(c *Call) {
		inferUnary(c, floats, Unary{Alpha: c.number("alpha", 0)})
	}}
}

func alphaBeta(name string) Def {
	return Def{Name: name, Params: []Param{tensor("x"), setting("alpha"), setting("beta")}, infer: func(c *Call) {
		inferUnary(c, floats, Unary{Alpha: c.number("alpha", 0), Beta: c.number("beta", 0)})
	}}
}

// inferThreshold also takes integers, with an integer alpha.
func inferThreshold(c *Call) {
	var u Unary
	if c.tensor("x").DType == mil.Int32 {
		u.Alpha = float64(c.integer("alpha", 0))
	} else {
		u.Alpha = c.number("alpha", 0)
	}
	inferUnary(c, numerics, u)
}

// inferChannels checks operands that have one number for each channel, axis 1 of x.
func inferChannels(c *Call, names ...string) {
	x := c.tensor("x")
	c.needs("x", floats...)
	if x.Rank() < 3 {
		c.fail("x", "reshape it to [batch, channel, row, column]", "rank %d where 3 to %d is expected", x.Rank(),
			MaxRank)
		return
	}
	for _, name := range names {
		c.needs(name, floats...)
		c.sameType("x", name)
		if v := c.tensor(name); v.Rank() != 1 || v.Shape[0] != x.Shape[1] {
			c.fail(name, "give a vector with one number for each channel", "shape %v for the %d channels of x%v",
				v.Shape, x.Shape[1], x.Shape)
		}
	}
	c.fp32(x.DType)
	c.gives(x.DType, x.Shape)
}
