package build

import "github.com/anekit/anekit/internal/ops"

// Operators on every element of one tensor.

// Abs returns the magnitude.
func (f *Func) Abs(x Value) Value { return f.unary("abs", x) }

// Relu returns max(x, 0).
func (f *Func) Relu(x Value) Value { return f.unary("relu", x) }

// Sqrt returns the square root.
func (f *Func) Sqrt(x Value) Value { return f.unary("sqrt", x) }

// Exp returns e to the power of x.
func (f *Func) Exp(x Value) Value { return f.unary("exp", x) }

// Sigmoid returns 1 / (1 + exp(-x)).
func (f *Func) Sigmoid(x Value) Value { return f.unary("sigmoid", x) }

// Tanh returns the hyperbolic tangent.
func (f *Func) Tanh(x Value) Value { return f.unary("tanh", x) }

// Silu returns x * sigmoid(x).
func (f *Func) Silu(x Value) Value { return f.unary("silu", x) }

func (f *Func) unary(kind string, x Value) Value { return f.call(kind).value("x", x).one() }

// Rsqrt returns 1 / sqrt(x + epsilon). fp16 has little precision for an epsilon below
// about 1e-5.
func (f *Func) Rsqrt(x Value, epsilon float64) Value {
	return f.call("rsqrt").value("x", x).number("epsilon", epsilon, x).one()
}

// GeluMode is the formula of Gelu.
type GeluMode string

// The modes of Gelu.
const (
	GeluExact   GeluMode = ops.GeluExact   // the default
	GeluTanh    GeluMode = ops.GeluTanh    // by tanh
	GeluSigmoid GeluMode = ops.GeluSigmoid // x * sigmoid(1.702 x)
)

// Gelu returns the Gaussian error linear unit. The last of several modes applies.
func (f *Func) Gelu(x Value, mode ...GeluMode) Value {
	m := GeluExact
	for _, m = range mode {
	}
	return f.call("gelu").value("x", x).word("mode", string(m)).one()
}
