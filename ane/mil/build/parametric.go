package build

import (
	"math"

	"github.com/anekit/anekit/ane/mil"
)

// Activations with settings, and those related to them.

// Relu6 returns min(max(x, 0), 6).
func (f *Func) Relu6(x Value) Value { return f.unary("relu6", x) }

// Softsign returns x / (1 + |x|).
func (f *Func) Softsign(x Value) Value { return f.unary("softsign", x) }

// Softplus returns log(1 + exp(x)).
func (f *Func) Softplus(x Value) Value { return f.unary("softplus", x) }

// Clip returns min(max(x, alpha), beta).
func (f *Func) Clip(x Value, alpha, beta float64) Value { return f.alphaBeta("clip", x, alpha, beta) }

// Elu returns x, below zero alpha * (exp(x) - 1).
func (f *Func) Elu(x Value, alpha float64) Value { return f.alpha("elu", x, alpha) }

// LeakyRelu returns x, below zero alpha * x.
func (f *Func) LeakyRelu(x Value, alpha float64) Value { return f.alpha("leaky_relu", x, alpha) }

// Threshold returns max(x, alpha). alpha is a whole number if x has integers.
func (f *Func) Threshold(x Value, alpha float64) Value {
	if x.dtype() == mil.Int32 && alpha == math.Trunc(alpha) && math.Abs(alpha) <= math.MaxInt32 {
		return f.call("threshold").value("x", x).int("alpha", int(alpha)).one()
	}
	return f.alpha("threshold", x, alpha)
}

// ThresholdedRelu returns x, below alpha 0.
func (f *Func) ThresholdedRelu(x Value, alpha float64) Value {
	return f.alpha("thresholded_relu", x, alpha)
}

// ClampedRelu returns min(x, beta), below zero min(alpha * x, beta).
func (f *Func) ClampedRelu(x Value, alpha, beta float64) Value {
	return f.alphaBeta("clamped_relu", x, alpha, beta)
}

// ScaledTanh returns alpha * tanh(beta * x).
func (f *Func) ScaledTanh(x Value, alpha, beta float64) Value {
	return f.alphaBeta("scaled_tanh", x, alpha, beta)
}

// SigmoidHard returns min(max(alpha * x + beta, 0), 1).
func (f *Func) SigmoidHard(x Value, alpha, beta float64) Value {
	return f.alphaBeta("sigmoid_hard", x, alpha, beta)
}

// LinearActivation returns alpha * x + beta.
func (f *Func) LinearActivation(x Value, alpha, beta float64) Value {
	return f.alphaBeta("linear_activation", x, alpha, beta)
}

// Prelu returns x, below zero alpha * x. alpha is a vector with a number for each channel, which is axis 1 of x.
func (f *Func) Prelu(x, alpha Value) Value {
	return f.call("prelu").value("x", x).value("alpha", alpha).one()
}

// SoftplusParametric returns alpha * log(1 + exp(beta * x)). alpha and beta are vectors with a number for each
// channel, which is axis 1 of x.
func (f *Func) SoftplusParametric(x, alpha, beta Value) Value {
	return f.call("softplus_parametric").value("x", x).value("alpha", alpha).value("beta", beta).one()
}

func (f *Func) alpha(kind string, x Value, alpha float64) Value {
	return f.call(kind).value("x", x).number("alpha", alpha, x).one()
}

func (f *Func) alphaBeta(kind string, x Value, alpha, beta float64) Value {
	return f.call(kind).value("x", x).number("alpha", alpha, x).number("beta", beta, x).one()
}
