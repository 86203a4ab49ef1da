package ops

import "github.com/anekit/anekit/ane/mil"

// functions map every element of one tensor like activations. Attrs is a Unary, nil for identity, which keeps
// the elements, and for logical_not.
var functions = []Def{
	unary("ceil", floats).costs(Pass), unary("floor", floats).costs(Pass), unary("round", floats).costs(Pass),
	unary("erf", floats).off("8.7e-4"),
	unary("atan", floats).costs(Pass),
	unary("sin", floats).costs(Pass).off("6.4e-4").partly(some, taken, "").limited(trigonometryLimits),
	unary("cos", floats).costs(Pass).off("6.4e-4").partly(some, taken, "").limited(trigonometryLimits),
	unary("sign", numerics).costs(Pass), unary("square", numerics), unary("exp2", numerics),
	withoutTable("neg", numerics, "multiply by -1").partly(refused, refused, "multiply by -1"),
	withoutTable("tan", floats, ""), withoutTable("asin", floats, ""), withoutTable("acos", floats, ""),
	withoutTable("sinh", floats, ""), withoutTable("cosh", floats, ""),
	withoutTable("asinh", floats, ""), withoutTable("acosh", floats, ""), withoutTable("atanh", floats, ""),
	shifted("log", 1e-45).off("6.7e-3"), shifted("inverse", 1e-4).off("13.5 ulp"),
	{Name: "logical_not", Cost: Pass, Params: []Param{tensor("x")}, infer: func(c *Call) {
		c.needs("x", mil.Bool)
		c.gives(mil.Bool, c.tensor("x").Shape)
	}},
	{Name: "identity", Cost: Free, support: support{e5: some, instead: "multiply by one"},
		Params: []Param{tensor("x")}, infer: func(c *Call) {
			c.needs("x", storable...)
			x := c.tensor("x")
			c.gives(x.DType, x.Shape)
		}},
}

// withoutTable is unary for an operator that Apple's engine does not run. instead, if not empty, is what to write in
// its place.
func withoutTable(name string, types []mil.DType, instead string) Def {
	return Def{Name: name, Cost: Pass, support: nowhere(onHost), Params: []Param{tensor("x")}, infer: func(c *Call) {
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
