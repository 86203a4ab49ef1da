package ops

// randoms fill tensors with random numbers. Attrs is a Random. A seed of 0 or more gives the same numbers in every
// evaluation; -1, the default, gives new numbers in each evaluation after a load, and the same ones after the next
// load.
var randoms = []Def{
	random("random_uniform", "low", 0, "high", 1), random("random_normal", "mean", 0, "stddev", 1),
	random("random_bernoulli", "prob", 0.5, "", 0),
	{Name: "random_categorical", support: nowhere(drawn), Params: []Param{tensor("x"), option("mode"),
		{Name: "size", Const: true, Sized: true, Optional: true}, option("seed")}, infer: inferCategorical},
}

// Random holds the settings of the random operators.
type Random struct {
	A, B  float64 // low and high, mean and stddev, or prob
	Seed  int     // -1: another in each evaluation
	Probs bool    // x of random_categorical has probabilities instead of their logarithms
}

func random(name, first string, a float64, second string, b float64) Def {
	params := []Param{sized("shape"), option(first)}
	if second != "" {
		params = append(params, option(second))
	}
	return Def{Name: name, support: nowhere(drawn), Params: append(params, option("seed")), infer: func(c *Call) {
		d := floats[1]
		if v := c.tensor(first); v != nil {
			c.needs(first, floats...)
			d = v.DType
		}
		r := Random{A: c.number(first, a), Seed: c.seed()}
		if second != "" {
			if v := c.tensor(second); v != nil && c.tensor(first) == nil {
				c.needs(second, floats...)
				d = v.DType
			}
			c.sameType(first, second)
			r.B = c.number(second, b)
		}
		shape := c.shape("shape")
		c.cpu()
		c.attrs = r
		c.gives(d, shape)
	}}
}

// seed returns the seed, -1 for any negative one.
func (c *Call) seed() int { return max(c.integer("seed", -1), -1) }

func inferCategorical(c *Call) {
	x := c.tensor("x")
	c.needs("x", floats...)
	n := c.integer("size", 1)
	r := Random{Seed: c.seed(), Probs: c.word("mode", "logits", "logits", "probs") == "probs"}
	if x.Rank() == 0 {
		c.fail("x", "give a vector of probabilities", "a scalar has no classes")
	}
	if n < 1 || n > MaxElements {
		c.fail("size", "draw at least one", "%d", n)
	}
	if c.failed() {
		return
	}
	shape := append([]int{}, x.Shape...)
	shape[len(shape)-1] = n
	c.cpu()
	c.attrs = r
	c.gives(x.DType, shape)
}
