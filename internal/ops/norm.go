package ops

import "slices"

// norms scale values. Attrs is a Norm.
var norms = []Def{
	{Name: "layer_norm", Params: []Param{tensor("x"), perhaps("gamma"), perhaps("beta"), option("axes"),
		option("epsilon")}, infer: inferLayerNorm},
	{Name: "batch_norm", Cost: Pass,
		support: support{memory: some, instead: "fold it into the convolution before it"},
		Params: []Param{tensor("x"), tensor("mean"), tensor("variance"), perhaps("gamma"),
			perhaps("beta"), option("epsilon")}, infer: func(c *Call) {
			inferChannelNorm(c, "mean", "variance", "gamma", "beta")
		}},
	{Name: "instance_norm", support: support{memory: some, instead: "write it with reduce_mean, sub, mul and rsqrt"},
		Params: []Param{tensor("x"), perhaps("gamma"), perhaps("beta"), option("epsilon")},
		infer:  func(c *Call) { inferChannelNorm(c, "gamma", "beta") }},
	{Name: "l2_norm", support: support{contested: "mul, reduce_sum and pow run where l2_norm was refused"},
		Params: []Param{tensor("x"), option("epsilon")}, infer: func(c *Call) {
			x := c.tensor("x")
			c.needs("x", floats...)
			c.fp32(x.DType)
			r := x.Rank()
			if r < 3 {
				c.fail("x", "give it three axes with expand_dims", "shape %v; the norm is that of the last three axes",
					x.Shape)
			}
			c.attrs = Norm{Axes: []int{r - 3, r - 2, r - 1}, Epsilon: c.epsilon(1e-6)}
			c.gives(x.DType, x.Shape)
		}},
	{Name: "local_response_norm", limits: responseLimits,
		Params: []Param{tensor("x"), setting("size"), option("alpha"), option("beta"),
			option("k")}, infer: func(c *Call) {
			x := c.tensor("x")
			c.needs("x", floats...)
			c.fp32(x.DType)
			if x.Rank() < 3 {
				c.fail("x", "give it three axes with expand_dims", "shape %v, not [N, C, ..]", x.Shape)
			}
			a := Norm{Size: c.integer("size", 1), Alpha: c.number("alpha", 1e-4), Beta: c.number("beta", 0.75),
				K: c.number("k", 1)}
			if a.Size < 1 || a.Size > MaxElements {
				c.fail("size", "give the number of channels of a neighborhood", "%d is out of range", a.Size)
			}
			c.attrs = a
			c.gives(x.DType, x.Shape)
		}},
}

// Norm holds the settings of a normalization.
type Norm struct {
	Axes    []int   // layer_norm, l2_norm, instance_norm: ascending
	Epsilon float64 // added to the biased variance, or to the sum of squares

	Size           int     // local_response_norm: channels of a neighborhood
	Alpha, Beta, K float64 // local_response_norm
}

func inferLayerNorm(c *Call) {
	x := c.tensor("x")
	c.needs("x", floats...)
	c.fp32(x.DType)
	all := make([]int, x.Rank())
	for i := range all {
		all[i] = i
	}
	axes := c.axes("axes", x.Rank(), all)
	if len(axes) == 0 && !c.failed() {
		c.fail("axes", "reshape x; a scalar has no axes", "there is no axis to normalize")
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
	c.attrs = Norm{Axes: axes, Epsilon: c.epsilon(1e-5)}
	c.gives(x.DType, x.Shape)
}

// inferChannelNorm is the rule of the norms of x [N, C, *D] whose parameters have one
// number for each channel.
func inferChannelNorm(c *Call, params ...string) {
	x := c.tensor("x")
	c.needs("x", floats...)
	c.fp32(x.DType)
	if x.Rank() < 3 {
		c.fail("x", "give it three axes with expand_dims", "shape %v, not [N, C, ..]", x.Shape)
		return
	}
	for _, name := range params {
		if v := c.tensor(name); v != nil {
			c.sameType("x", name)
			if !slices.Equal(v.Shape, x.Shape[1:2]) {
				c.fail(name, "give one number for each channel", "shape %v for %d channels", v.Shape, x.Shape[1])
			}
		}
	}
	a := Norm{Epsilon: c.epsilon(1e-5)}
	for i := 2; i < x.Rank(); i++ {
		a.Axes = append(a.Axes, i)
	}
	c.attrs = a
	c.gives(x.DType, x.Shape)
}
