package ops

import "github.com/anekit/anekit/ane/mil"

// Gelu modes, as the argument mode spells them.
const (
	GeluExact   = "EXACT"
	GeluTanh    = "TANH_APPROXIMATION"
	GeluSigmoid = "SIGMOID_APPROXIMATION"
)

// activations map every element of one tensor. Attrs is a Unary.
var activations = []Def{
	unary("abs", numerics), unary("relu", numerics),
	unary("sqrt", floats).off("1.2 ulp"), unary("exp", floats).off("9.1 ulp"), unary("sigmoid", floats).off("3.4e-3"),
	unary("tanh", floats).off("1.7e-3"), unary("silu", floats).off("1.5e-2"),
	{Name: "rsqrt", Error: "2.1 ulp",
		support: support{contested: "pow with the exponent -0.5 runs where rsqrt was refused"},
		Params:  []Param{tensor("x"), option("epsilon")}, infer: func(c *Call) {
			inferUnary(c, floats, Unary{Epsilon: c.epsilon(1e-12)})
		}},
	{Name: "gelu", Error: "6.2e-3", Params: []Param{tensor("x"), option("mode")}, infer: func(c *Call) {
		inferUnary(c, floats, Unary{Mode: c.word("mode", GeluExact, GeluExact, GeluTanh, GeluSigmoid)})
	}},
}

// Unary holds the settings of an activation.
type Unary struct {
	Epsilon     float64 // rsqrt: 1/sqrt(x + Epsilon); log and inverse likewise
	Mode        string  // gelu
	Alpha, Beta float64 // the operators of parametric.go
}

func unary(name string, types []mil.DType) Def {
	return Def{Name: name, Params: []Param{tensor("x")}, infer: func(c *Call) { inferUnary(c, types, Unary{}) }}
}

func inferUnary(c *Call, types []mil.DType, u Unary) {
	x := c.tensor("x")
	c.needs("x", types...)
	c.fp32(x.DType)
	c.attrs = u
	c.gives(x.DType, x.Shape)
}
