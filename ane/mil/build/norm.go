package build

// NormOption is Gamma, Beta or Epsilon.
type NormOption interface{ norm(*norm) }

// Gamma is the factor of normalized values: for LayerNorm of the shape of the axes, for BatchNorm and InstanceNorm one
// number for each channel. The default is 1.
type Gamma Value

// Beta is added after the multiplication by Gamma, of the same shape. The default is 0.
type Beta Value

// Epsilon is added to the variance, by L2Norm to the sum of squares. The default is 1e-5, that of L2Norm 1e-6.
type Epsilon float64

func (g Gamma) norm(n *norm)   { n.gamma = &g }
func (b Beta) norm(n *norm)    { n.beta = &b }
func (e Epsilon) norm(n *norm) { n.epsilon = e }

type norm struct {
	gamma   *Gamma
	beta    *Beta
	epsilon Epsilon
}

// finish adds the options to a call.
func (c *call) finish(x Value, options []NormOption) Value {
	n := norm{epsilon: 1e-5}
	for _, o := range given(options) {
		o.norm(&n)
	}
	if n.beta != nil {
		c.value("beta", Value(*n.beta))
	}
	c.number("epsilon", float64(n.epsilon), x)
	if n.gamma != nil {
		c.value("gamma", Value(*n.gamma))
	}
	return c.one()
}

// LayerNorm scales x to a mean of 0 and a variance of 1 over axes.
func (f *Func) LayerNorm(x Value, axes []int, options ...NormOption) Value {
	return f.call("layer_norm").value("x", x).ints("axes", axes).finish(x, options)
}

// BatchNorm subtracts mean from x [N, C, ..] and divides by the square root of variance; both have one number for each
// channel.
func (f *Func) BatchNorm(x, mean, variance Value, options ...NormOption) Value {
	return f.call("batch_norm").value("x", x).value("mean", mean).value("variance", variance).finish(x, options)
}

// InstanceNorm scales each channel of each image of x [N, C, ..] to a mean of 0 and a variance of 1.
func (f *Func) InstanceNorm(x Value, options ...NormOption) Value {
	return f.call("instance_norm").value("x", x).finish(x, options)
}

// L2NormOption is Epsilon.
type L2NormOption interface{ l2Norm(*norm) }

func (e Epsilon) l2Norm(n *norm) { n.epsilon = e }

// L2Norm divides x by the square root of the sum of squares over its last three axes.
func (f *Func) L2Norm(x Value, options ...L2NormOption) Value {
	n := norm{epsilon: 1e-6}
	for _, o := range given(options) {
		o.l2Norm(&n)
	}
	return f.call("l2_norm").value("x", x).number("epsilon", float64(n.epsilon), x).one()
}

// LocalResponse holds the settings of LocalResponseNorm.
type LocalResponse struct {
	Size           int     // channels of a neighborhood
	Alpha, Beta, K float64 // usually 1e-4, 0.75 and 1
}

// LocalResponseNorm divides each element of x [N, C, ..] by (K + Alpha/Size * sum)^Beta, where sum is that of the
// squares of the channels at a distance of up to Size/2.
func (f *Func) LocalResponseNorm(x Value, r LocalResponse) Value {
	return f.call("local_response_norm").value("x", x).number("alpha", r.Alpha, x).number("beta", r.Beta, x).
		number("k", r.K, x).int("size", r.Size).one()
}
