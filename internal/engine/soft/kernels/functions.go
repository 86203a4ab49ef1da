package kernels

import (
	"math"

	"github.com/anekit/anekit/internal/ops"
)

// mathMap returns the function of an operator with its settings.
func mathMap(op string, u ops.Unary) func(x float64) float64 {
	if f := mathMaps[op]; f != nil {
		return f
	}
	if f := plainMaps[op]; f != nil {
		return f
	}
	if f := settingMaps[op]; f != nil {
		return f(u)
	}
	return nil
}

// plainMaps are functions without settings, in float64 like mathMaps.
var plainMaps = map[string]func(x float64) float64{
	"ceil": math.Ceil, "floor": math.Floor, "round": math.RoundToEven, "sign": sign,
	"square": func(x float64) float64 { return x * x },
	"neg":    func(x float64) float64 { return -x },
	"exp2":   math.Exp2, "erf": math.Erf,
	"sin": math.Sin, "cos": math.Cos, "tan": math.Tan, "asin": math.Asin, "acos": math.Acos, "atan": math.Atan,
	"sinh": math.Sinh, "cosh": math.Cosh, "asinh": math.Asinh, "acosh": math.Acosh, "atanh": math.Atanh,
	"relu6":    func(x float64) float64 { return min(max(x, 0), 6) },
	"softsign": func(x float64) float64 { return x / (1 + math.Abs(x)) },
	"softplus": softplus,
}

// settingMaps are functions with settings.
var settingMaps = map[string]func(u ops.Unary) func(x float64) float64{
	"log": func(u ops.Unary) func(x float64) float64 {
		return func(x float64) float64 { return math.Log(x + u.Epsilon) }
	},
	"inverse": func(u ops.Unary) func(x float64) float64 {
		return func(x float64) float64 { return 1 / (x + u.Epsilon) }
	},
	"clip": func(u ops.Unary) func(x float64) float64 {
		return func(x float64) float64 { return min(max(x, u.Alpha), u.Beta) }
	},
	"elu": func(u ops.Unary) func(x float64) float64 {
		return func(x float64) float64 {
			if x < 0 {
				return u.Alpha * math.Expm1(x)
			}
			return x
		}
	},
	"leaky_relu": func(u ops.Unary) func(x float64) float64 {
		return func(x float64) float64 { return leaky(x, u.Alpha) }
	},
	"threshold": func(u ops.Unary) func(x float64) float64 {
		return func(x float64) float64 { return max(x, u.Alpha) }
	},
	"thresholded_relu": func(u ops.Unary) func(x float64) float64 {
		return func(x float64) float64 {
			if x < u.Alpha {
				return 0
			}
			return x
		}
	},
	"clamped_relu": func(u ops.Unary) func(x float64) float64 {
		return func(x float64) float64 { return min(leaky(x, u.Alpha), u.Beta) }
	},
	"scaled_tanh": func(u ops.Unary) func(x float64) float64 {
		return func(x float64) float64 { return u.Alpha * math.Tanh(u.Beta*x) }
	},
	"sigmoid_hard": func(u ops.Unary) func(x float64) float64 {
		return func(x float64) float64 { return min(max(affine(x, u), 0), 1) }
	},
	"linear_activation": func(u ops.Unary) func(x float64) float64 {
		return func(x float64) float64 { return affine(x, u) }
	},
}

// sign is 0 for both zeros.
func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	case x == 0:
		return 0
	}
	return x
}

func leaky(x, alpha float64) float64 {
	if x < 0 {
		return alpha * x
	}
	return x
}

// affine rounds the product on every machine, also where the compiler could fuse it with the sum.
func affine(x float64, u ops.Unary) float64 { return float64(u.Alpha*x) + u.Beta }

// softplus is log(1 + exp(x)), without overflow.
func softplus(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

// intMap returns the function of an operator on integers.
func intMap(op string, u ops.Unary) func(x int32) int32 {
	switch op {
	case "threshold":
		alpha := u.Alpha // exceeds int32 where no element can
		return func(x int32) int32 { return int32(min(max(float64(x), alpha), math.MaxInt32)) }
	case "neg":
		return func(x int32) int32 { return -x }
	case "sign":
		return func(x int32) int32 { return int32(sign(float64(x))) }
	case "square":
		return func(x int32) int32 { return x * x }
	case "exp2": // truncated below 1, clamped above the range
		return func(x int32) int32 {
			switch {
			case x < 0:
				return 0
			case x > 30:
				return math.MaxInt32
			}
			return 1 << x
		}
	}
	return intMaps[op]
}
