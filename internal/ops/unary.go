package ops

import "github.com/anekit/anekit/ane/mil"

// Gelu modes, as the argument mode spells them.
const (
	GeluExact   = "EXACT"
	GeluTanh    = "TANH_APPROXIMATION"
	GeluSigmoid = "SIGMOID_APPROXIMATION"
)

// unaries map every element of one tensor. Attrs is a Unary; nil for identity, which keeps the elements, for
// logical_not, and for the operators with a number for each channel, whose numbers are operands.
var unaries = []Def{
	unary("abs", numerics, "returns the magnitude"),
	unary("relu", numerics, "returns max(x, 0)").limited(reluLimits),
	unary("relu6", floats, "returns min(max(x, 0), 6)"),
	unary("sqrt", floats, "returns the square root").off("1.2 ulp"),
	unary("exp", floats, "returns e to the power of x").off("9.1 ulp"),
	unary("exp2", numerics, "returns 2 to the power of x"),
	unary("sigmoid", floats, "returns 1 / (1 + exp(-x))").off("3.4e-3"),
	unary("tanh", floats, "returns the hyperbolic tangent").off("1.7e-3"),
	unary("silu", floats, "returns x * sigmoid(x)").off("1.5e-2"),
	unary("erf", floats, "returns the error function").off("8.7e-4"),
	unary("square", numerics, "returns x * x"),
	unary("softsign", floats, "returns x / (1 + |x|)"),
	unary("softplus", floats, "returns log(1 + exp(x))"),
	unary("ceil", floats, "rounds up to a whole number").costs(Pass),
	unary("floor", floats, "rounds down to a whole number").costs(Pass),
	unary("round", floats, "rounds to the nearest whole number, halves to the even one").costs(Pass),
	unary("sign", numerics, "returns -1, 0 or 1").costs(Pass),
	unary("sin", floats, "returns the sine of an angle in radians").off("6.4e-4").trigonometric(),
	unary("cos", floats, "returns the cosine of an angle in radians").off("6.4e-4").trigonometric(),
	unary("atan", floats, "returns the inverse of Tan").costs(Pass),
	unary("tan", floats, "returns the tangent of an angle in radians").onHost(),
	unary("asin", floats, "returns the inverse of Sin").onHost(),
	unary("acos", floats, "returns the inverse of Cos").onHost(),
	unary("sinh", floats, "returns the hyperbolic sine").onHost(),
	unary("cosh", floats, "returns the hyperbolic cosine").onHost(),
	unary("asinh", floats, "returns the inverse of Sinh").onHost(),
	unary("acosh", floats, "returns the inverse of Cosh").onHost(),
	unary("atanh", floats, "returns the inverse of Tanh").onHost(),
	unary("neg", numerics, "returns -x").costs(Pass).nowhere("multiply by -1"),
	shifted("rsqrt", 1e-12, "returns 1 / sqrt(x + epsilon). fp16 has little precision for an epsilon below about 1e-5").
		off("2.1 ulp").contested("pow with the exponent -0.5 runs where rsqrt was refused"),
	shifted("log", 1e-45, "returns the natural logarithm of x + epsilon").off("6.7e-3"),
	shifted("inverse", 1e-4, "returns 1 / (x + epsilon)").off("13.5 ulp"),
	alpha("elu", "returns x, below zero alpha * (exp(x) - 1)"),
	alpha("leaky_relu", "returns x, below zero alpha * x"),
	alpha("thresholded_relu", "returns x, below alpha 0"),
	alpha("clip", "returns min(max(x, alpha), beta)", "beta"),
	alpha("clamped_relu", "returns min(x, beta), below zero min(alpha * x, beta)", "beta"),
	alpha("scaled_tanh", "returns alpha * tanh(beta * x)", "beta"),
	alpha("sigmoid_hard", "returns min(max(alpha * x + beta, 0), 1)", "beta"),
	alpha("linear_activation", "returns alpha * x + beta", "beta"),
	{Name: "threshold", Params: []Param{tensor("x", numerics...), setting("alpha", Element)}, infer: inferThreshold,
		Doc: "returns max(x, alpha). alpha is a whole number if x has integers"},
	{Name: "gelu", Error: "6.2e-3", Params: []Param{tensor("x", floats...),
		word("mode", GeluExact, GeluTanh, GeluSigmoid).or(GeluExact)}, infer: func(c *Call, x *Value) {
		c.keeps(Unary{Mode: c.word("mode")})
	}},
	{Name: "prelu", Params: []Param{tensor("x", floats...), tensor("alpha")}, infer: inferChannels,
		Doc: "returns x, below zero alpha * x. alpha is a vector with a number for each channel, which is axis 1 of x"},
	{Name: "softplus_parametric", Cost: Pass, infer: inferChannels,
		Params: []Param{tensor("x", floats...), tensor("alpha"), tensor("beta")},
		Doc: "returns alpha * log(1 + exp(beta * x)). alpha and beta are vectors with a number for each channel, " +
			"which is axis 1 of x"},
	{Name: "logical_not", Doc: "returns the opposite of truth values", Cost: Pass,
		Params: []Param{tensor("x", truths...)}, infer: func(c *Call, x *Value) { c.keeps(nil) }},
	{Name: "identity", Doc: "returns x", Cost: Free, support: support{e5: some, instead: "multiply by one"},
		Params: []Param{tensor("x", storable...)}, infer: func(c *Call, x *Value) { c.keeps(nil) }},
}

// Unary holds the settings of an activation.
type Unary struct {
	Epsilon     float64 // rsqrt: 1/sqrt(x + Epsilon); log and inverse likewise
	Mode        string  // gelu
	Alpha, Beta float64
}

func unary(name string, types []mil.DType, doc string) Def {
	return Def{Name: name, Doc: doc, Params: []Param{tensor("x", types...)},
		infer: func(c *Call, _ *Value) { c.keeps(Unary{}) }}
}

// shifted is a function of x + epsilon. The default of epsilon has the type of x, in which it may round to 0.
func shifted(name string, epsilon float64, doc string) Def {
	return Def{Name: name, Doc: doc, Params: []Param{tensor("x", floats...), number("epsilon").or(epsilon)},
		infer: func(c *Call, x *Value) { c.keeps(Unary{Epsilon: c.epsilon()}) }}
}

// alpha is a function with one number, or two.
func alpha(name, doc string, second ...string) Def {
	d := Def{Name: name, Doc: doc, Params: []Param{tensor("x", floats...), number("alpha")}, infer: inferAlpha}
	for _, beta := range second {
		d.Params = append(d.Params, number(beta))
	}
	return d
}

func inferAlpha(c *Call, x *Value) {
	u := Unary{Alpha: c.number("alpha"), Beta: c.number("beta")}
	if c.Def.Name == "clip" && u.Alpha >= u.Beta {
		c.note("compilers of opset ios17 and later refuse an alpha that is not below beta")
	}
	c.keeps(u)
}

// inferThreshold also takes integers, with an integer alpha.
func inferThreshold(c *Call, x *Value) {
	if x.DType == mil.Int32 {
		c.keeps(Unary{Alpha: float64(c.integer("alpha"))})
		return
	}
	c.keeps(Unary{Alpha: c.number("alpha")})
}

func (d Def) trigonometric() Def {
	return d.costs(Pass).partly(some, taken, "").limited(trigonometryLimits)
}
func (d Def) onHost() Def { return d.costs(Pass).nowhere(onHost) }

// keeps gives the result the type and shape of x.
func (c *Call) keeps(attrs any) {
	x := c.tensor("x")
	c.gives(attrs, x.DType, x.Shape)
}

// inferChannels checks operands that have one number for each channel, axis 1 of x.
func inferChannels(c *Call, x *Value) {
	c.refuseIf(x.Rank() < 3, "x", "reshape it to [batch, channel, row, column]", "rank %d where 3 to %d is expected",
		x.Rank(), MaxRank)
	for _, p := range c.Def.Params[1:] {
		c.shaped(p.Name, x.Shape[1:2], "give a vector with one number for each channel",
			"shape %v for the %d channels of x%v", x.Shape[1], x.Shape)
	}
	c.keeps(nil)
}
