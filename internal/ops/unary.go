package ops

import "github.com/anekit/anekit/ane/mil"

// Gelu modes, as the argument mode spells them.
const (
	GeluExact   = "EXACT"
	GeluTanh    = "TANH_APPROXIMATION"
	GeluSigmoid = "SIGMOID_APPROXIMATION"
)

// unaries map every element of one tensor. Attrs is a Unary; nil for operators with a number for each channel, which are
// operands.
var unaries = []*Def{
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
	unary("asinh", floats, "returns the inverse of Sinh").likeHost("sinh"),
	unary("acosh", floats, "returns the inverse of Cosh").likeHost("cosh"),
	unary("atanh", floats, "returns the inverse of Tanh").onHost(),
	unary("neg", numerics, "returns -x").costs(Pass).nowhere("multiply by -1"),
	unary("rsqrt", floats, "returns 1 / sqrt(x + epsilon). fp16 has little precision for an epsilon below about 1e-5",
		number("epsilon").or(1e-12)).
		off("2.1 ulp").contested("pow with the exponent -0.5 runs where rsqrt was refused"),
	unary("log", floats, "returns the natural logarithm of x + epsilon", number("epsilon").or(1e-45)).off("6.7e-3"),
	unary("inverse", floats, "returns 1 / (x + epsilon)", number("epsilon").or(1e-4)).off("13.5 ulp"),
	unary("elu", floats, "returns x, below zero alpha * (exp(x) - 1)", alpha),
	unary("leaky_relu", floats, "returns x, below zero alpha * x", alpha),
	unary("thresholded_relu", floats, "returns x, below alpha 0", alpha),
	unary("clip", floats, "returns min(max(x, alpha), beta)", alpha, beta),
	unary("clamped_relu", floats, "returns min(x, beta), below zero min(alpha * x, beta)", alpha, beta),
	unary("scaled_tanh", floats, "returns alpha * tanh(beta * x)", alpha, beta),
	unary("sigmoid_hard", floats, "returns min(max(alpha * x + beta, 0), 1)", alpha, beta),
	unary("linear_activation", floats, "returns alpha * x + beta", alpha, beta),
	{Name: "threshold", Params: []*Param{tensor("x", numerics...), setting("alpha", Element)}, infer: inferThreshold,
		Doc: "returns max(x, alpha). alpha is a whole number if x has integers"},
	unary("gelu", floats, "", word("mode", GeluExact, GeluTanh, GeluSigmoid).or(GeluExact)).off("6.2e-3"),
	unary("logical_not", truths, "returns the opposite of truth values").costs(Pass),
	unary("identity", storable, "returns x").costs(Free).partly(taken, some, "multiply by one"),
	{Name: "prelu", Params: []*Param{tensor("x", floats...), tensor("alpha")}, infer: inferChannels,
		Doc: "returns x, below zero alpha * x. alpha is a vector with a number for each channel, which is axis 1 of x"},
	{Name: "softplus_parametric", Cost: Pass, infer: inferChannels,
		Params: []*Param{tensor("x", floats...), tensor("alpha"), tensor("beta")},
		Doc: "returns alpha * log(1 + exp(beta * x)). alpha and beta are vectors with a number for each channel, " +
			"which is axis 1 of x"},
}

// Unary holds the settings of an activation.
type Unary struct {
	Epsilon     float64 // rsqrt: 1/sqrt(x + Epsilon); log and inverse likewise
	Mode        string  // gelu
	Alpha, Beta float64
}

// unary is a function of x and of settings that a Unary has. The default of epsilon has the type of x,
// in which it may round to 0. Inlined, its copies in all rows would be 50 KB of every program.
//
//go:noinline
func unary(name string, types []mil.DType, doc string, settings ...*Param) *Def {
	params := append([]*Param{tensor("x", types...)}, settings...)
	return &Def{Name: name, Doc: doc, Params: params, infer: func(c *Call, x *Value) {
		u := Unary{Epsilon: c.epsilon(), Mode: c.word("mode"), Alpha: c.number("alpha"), Beta: c.number("beta")}
		if name == "clip" && u.Alpha >= u.Beta {
			c.note("compilers of opset ios17 and later refuse an alpha that is not below beta")
		}
		c.keeps(u)
	}}
}

var alpha, beta = number("alpha"), number("beta")

// inferThreshold also takes integers, with an integer alpha.
func inferThreshold(c *Call, x *Value) {
	if x.DType == mil.Int32 {
		c.keeps(Unary{Alpha: float64(c.integer("alpha"))})
		return
	}
	c.keeps(Unary{Alpha: c.number("alpha")})
}

func (d *Def) trigonometric() *Def {
	return d.costs(Pass).partly(some, taken, "").limited(trigonometryLimits)
}
func (d *Def) onHost() *Def { return d.costs(Pass).nowhere(onHost) }

func (d *Def) likeHost(kind string) *Def {
	d.support = like("like "+kind+", which is refused", onHost)
	return d.costs(Pass)
}

// keeps gives the result the type and shape of x.
func (c *Call) keeps(attrs any) {
	x := c.Value("x")
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
