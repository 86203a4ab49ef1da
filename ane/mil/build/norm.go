package build

// NormOption is Gamma, Beta or Epsilon.
type NormOption interface{ norm(*norm) }

// Gamma is the factor of normalized values, of the shape of the axes.
type Gamma Value

// Beta is added after the multiplication by Gamma, of the shape of the axes.
type Beta Value

// Epsilon is added to the variance. The default is 1e-5.
type Epsilon float64

func (g Gamma) norm(n *norm)   { n.gamma = &g }
func (b Beta) norm(n *norm)    { n.beta = &b }
func (e Epsilon) norm(n *norm) { n.epsilon = e }

type norm struct {
	gamma   *Gamma
	beta    *Beta
	epsilon Epsilon
}

// LayerNorm scales x to a mean of 0 and a variance of 1 over axes.
func (f *Func) LayerNorm(x Value, axes []int, options ...NormOption) Value {
	n := norm{epsilon: 1e-5}
	for _, o := range given(options) {
		o.norm(&n)
	}
	c := f.call("layer_norm").value("x", x).ints("axes", axes)
	if n.beta != nil {
		c.value("beta", Value(*n.beta))
	}
	c.number("epsilon", float64(n.epsilon), x)
	if n.gamma != nil {
		c.value("gamma", Value(*n.gamma))
	}
	return c.one()
}
