package ops

import "github.com/anekit/anekit/ane/mil"

// functions map every element of one tensor like activations. Attrs is a Unary, nil for identity, which keeps
// the elements, and for logical_not.
var functions = []Def{
	unary("ceil", floats), unary("floor", floats), unary("round", floats), unary("erf", floats),
	unary("atan", floats), unary("sin", floats), unary("cos", floats),
	unary("sign", numerics), unary("square", numerics), unary("exp2", numerics),
	refused("neg", numerics, "multiply by -1"),
	refused("tan", floats, ""), refused("asin", floats, ""), refused("acos", floats, ""),
	refused("sinh", floats, ""), refused("cosh", floats, ""),
	refused("asinh", floats, ""), refused("acosh", floats, ""), refused("atanh", floats, ""),
	shifted("log", 1e-45), shifted("inverse", 1e-4),
	{Name: "logical_not", Params: []Param{tensor("x")}, infer: func(c *Call) {
		c.needs("x", mil.Bool)
		c.gives(mil.Bool, c.tensor("x").Shape)
	}},
	{Name: "identity", Params: []Param{tensor("x")}, infer: func(c *Call) {
		c.needs("x", storable...)
		x := c.tensor("x")
		c.gives(x.DType, x.Shape)
	}},
}

// refused is unary for an operator that Apple's engine does not run. instead, if not empty, is what to write in
// its place.
func refused(name string, types []mil.DType, instead string) Def {
	return Def{Name: name, Params: []Param{tensor("x")}, infer: func(c *Call) {
		c.offEngine(instead)
		inferUnary(c, types, Unary{})
	}}
}

// shifted is unary for a function of x + epsilon. The default of epsilon has the type of x, in which it may
// round to 0.
func shifted(name string, epsilon float64) Def {
	return Def{Name: name, Params: []Param{tensor("x"), option("epsilon")}, infer: func(c *Call) {
		inferUnary(c, floats, Unary{Epsilon: c.epsilon(epsilon)})
	}}
}

// offEngine notes that Apple's engine does not run the operator.
func (c *Call) offEngine(instead string) {
	note := "Apple's engine does not run it; Core ML computes it on the CPU or GPU"
	if instead != "" {
		note += "; " + instead
	}
	c.notes = append(c.notes, note)
}
