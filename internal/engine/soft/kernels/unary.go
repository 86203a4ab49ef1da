package kernels

import (
	"math"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/element"
	"github.com/anekit/anekit/internal/engine/soft/internal/halves"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
)

// mathCost is the work of a function of the math package, in the units of Call.Spread. That of a look-up is 1.
const mathCost = 32

// unary prepares the operators on each element of one tensor.
func unary(s *Step) (run.Runner, int) {
	u, _ := s.Attrs.(ops.Unary)
	d := s.Out[0].DType
	if d == mil.Int32 {
		f := integerFunction(s.Op, u)
		return newEach(s.Out[0].len(), 1, run.Chunk, func(c *run.Call, lo, hi, _ int) {
			x, out := c.In[0].Ints, c.Out[0].Ints
			for i := lo; i < hi; i++ {
				out[i] = f(x[i])
			}
		}), 0
	}
	if s.halved() {
		if r := s.clamp(u); r != nil {
			return r, 0
		}
	}
	if op := quick[s.Op]; op != nil && !(s.Op == "sqrt" && d == mil.FP16 &&
		(s.Arith.Operand.Defines(s.Op) || s.Out[0].len() >= halves.Tabled)) {
		return decoded(s, 1, op)
	}
	f := functions[s.Op](u)
	if d == mil.FP16 { // the chip's own form of the operator if it has one, else f, rounded once
		r, op := s.Arith.Operand, s.Op
		return s.lookUp(s.key(), func(h fp16.Bits) fp16.Bits {
			if y, ok := r.Unary(op, h, u.Epsilon); ok {
				return y
			}
			return r.Round(f(float64(r.Value(h))))
		}), 0
	}
	return decoded(s, mathCost, func(x []float32) {
		for i, v := range x {
			x[i] = float32(f(float64(v)))
		}
	})
}

// lookUp makes the runner of a function of one half, which has a table in a step of many elements.
func (s *Step) lookUp(key string, f func(fp16.Bits) fp16.Bits) run.Runner {
	n, cost := s.Out[0].len(), 1
	var fill func(values []fp16.Bits)
	if times := s.Op == "silu"; s.Arith.Operand == 0 && (times || s.Op == "sigmoid") {
		fill = func(values []fp16.Bits) { halves.Sigmoids(values, times, f) }
	}
	t := s.Arith.Tables.Of(key, n, f, fill)
	if t.Bytes() == 0 {
		cost = mathCost
	}
	r := newEach(n, cost, 8*run.Chunk, func(c *run.Call, lo, hi, _ int) {
		t.Apply(c.Out[0].Half[lo:hi], c.In[0].Half[lo:hi])
	})
	r.table = t
	return r
}

// clamp returns the runner of an operator that limits each element or takes its magnitude, or nil for another.
// Rounding keeps order, so that the limits may be rounded instead of the result.
func (s *Step) clamp(u ops.Unary) run.Runner {
	low, high, payload := 0.0, math.Inf(1), s.Op == "relu"
	switch s.Op {
	case "abs", "relu":
	case "relu6":
		high = 6
	case "clip":
		low, high = u.Alpha, u.Beta
	case "threshold":
		low = u.Alpha
	default:
		return nil
	}
	if low != low || high != high {
		return nil
	}
	from, to := fp16.FromFloat64(low), fp16.FromFloat64(high)
	r := newEach(s.Out[0].len(), 1, halfStretch, func(c *run.Call, lo, hi, _ int) {
		x, out := c.In[0].Half[lo:hi], c.Out[0].Half[lo:hi]
		if s.Op == "abs" {
			halves.Abs(out, x)
		} else {
			halves.Clamp(out, x, from, to, payload)
		}
	})
	if s.Op != "abs" {
		r.finish = &run.Finish{Low: from, High: to}
	}
	return r
}

// quick are functions of float32 that are as exact as those of float64: 24 bits are at least 2*11+2.
var quick = map[string]func(x []float32){
	"abs": magnitudes,
	"relu": func(x []float32) {
		for i, v := range x {
			x[i] = max(v, 0)
		}
	},
	"sqrt": func(x []float32) {
		for i, v := range x {
			x[i] = float32(math.Sqrt(float64(v)))
		}
	},
}

func magnitudes(x []float32) {
	for i, v := range x {
		x[i] = math.Float32frombits(math.Float32bits(v) &^ (1 << 31))
	}
}

// curve is a function of float64; the kernel rounds its results once.
type curve = func(x float64) float64

func plain(f curve) func(ops.Unary) curve { return func(ops.Unary) curve { return f } }

// functions holds the operators on each element of one tensor.
var functions = map[string]func(u ops.Unary) curve{
	"abs": plain(math.Abs), "relu": plain(func(x float64) float64 { return max(x, 0) }), "sqrt": plain(math.Sqrt),
	"exp": plain(math.Exp), "tanh": plain(math.Tanh), "sigmoid": plain(sigmoid),
	"silu": plain(func(x float64) float64 { return x * sigmoid(x) }),
	"ceil": plain(math.Ceil), "floor": plain(math.Floor), "round": plain(math.RoundToEven), "sign": plain(sign),
	"square": plain(func(x float64) float64 { return x * x }), "neg": plain(func(x float64) float64 { return -x }),
	"exp2": plain(math.Exp2), "erf": plain(math.Erf), "sin": plain(math.Sin), "cos": plain(math.Cos),
	"tan": plain(math.Tan), "asin": plain(math.Asin), "acos": plain(math.Acos), "atan": plain(math.Atan),
	"sinh": plain(math.Sinh), "cosh": plain(math.Cosh), "asinh": plain(math.Asinh), "acosh": plain(math.Acosh),
	"atanh":    plain(math.Atanh),
	"relu6":    plain(func(x float64) float64 { return min(max(x, 0), 6) }),
	"softsign": plain(func(x float64) float64 { return x / (1 + math.Abs(x)) }),
	"softplus": plain(softplus),
	"gelu":     func(u ops.Unary) curve { return gelu[u.Mode] },
	"rsqrt":    func(u ops.Unary) curve { return func(x float64) float64 { return 1 / math.Sqrt(x+u.Epsilon) } },
	"log":      func(u ops.Unary) curve { return func(x float64) float64 { return math.Log(x + u.Epsilon) } },
	"inverse":  func(u ops.Unary) curve { return func(x float64) float64 { return 1 / (x + u.Epsilon) } },
	"clip":     func(u ops.Unary) curve { return func(x float64) float64 { return min(max(x, u.Alpha), u.Beta) } },
	"elu": func(u ops.Unary) curve {
		return func(x float64) float64 {
			if x < 0 {
				return u.Alpha * math.Expm1(x)
			}
			return x
		}
	},
	"leaky_relu": func(u ops.Unary) curve { return func(x float64) float64 { return leaky(x, u.Alpha) } },
	"threshold":  func(u ops.Unary) curve { return func(x float64) float64 { return max(x, u.Alpha) } },
	"thresholded_relu": func(u ops.Unary) curve {
		return func(x float64) float64 {
			if x < u.Alpha {
				return 0
			}
			return x
		}
	},
	"clamped_relu": func(u ops.Unary) curve {
		return func(x float64) float64 { return min(leaky(x, u.Alpha), u.Beta) }
	},
	"scaled_tanh": func(u ops.Unary) curve {
		return func(x float64) float64 { return u.Alpha * math.Tanh(u.Beta*x) }
	},
	"sigmoid_hard": func(u ops.Unary) curve {
		return func(x float64) float64 { return min(max(affine(x, u), 0), 1) }
	},
	"linear_activation": func(u ops.Unary) curve { return func(x float64) float64 { return affine(x, u) } },
}

// gelu holds the three forms that the mode argument names.
var gelu = map[string]curve{
	ops.GeluExact: func(x float64) float64 { return x * math.Erfc(-x/math.Sqrt2) / 2 },
	ops.GeluTanh: func(x float64) float64 {
		return x / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+float64(0.044715*x*x*x))))
	},
	ops.GeluSigmoid: func(x float64) float64 { return x * sigmoid(1.702*x) },
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

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

// integerFunction returns the function of an operator on integers. Those that are exact in the low bits wrap around;
// results of others are truncated, and at most the greatest integer.
func integerFunction(op string, u ops.Unary) func(x int32) int32 {
	switch op {
	case "abs":
		return func(x int32) int32 { return max(x, -x) }
	case "neg":
		return func(x int32) int32 { return -x }
	case "square":
		return func(x int32) int32 { return x * x }
	}
	f := functions[op](u)
	return func(x int32) int32 { return int32(min(f(float64(x)), math.MaxInt32)) }
}

// logicalNot inverts truth values. A bool is one byte, true unless 0.
func logicalNot(s *Step) (run.Runner, int) {
	return newEach(s.Out[0].len(), 1, run.Chunk, func(c *run.Call, lo, hi, _ int) {
		x, out := c.In[0].Raw, c.Out[0].Raw
		for i := lo; i < hi; i++ {
			out[i] = truth(x[i] == 0)
		}
	}), 0
}

// cast converts elements: between floats exactly or with one rounding, to
// integers toward zero with clamping, to bool as x != 0.
func cast(s *Step) (run.Runner, int) {
	from, to := s.In[0].DType, s.Out[0].DType
	n, size := element.Size(from), element.Size(to)
	piece := run.Chunk
	if from == to {
		piece = max(s.Out[0].len(), 1)
	}
	floats := func(d mil.DType) bool { return d == mil.FP16 || d == mil.FP32 }
	return newEach(s.Out[0].len(), 2, piece, func(c *run.Call, lo, hi, worker int) {
		in, out := &c.In[0], &c.Out[0]
		if from == to {
			copy(out.Raw[lo*n:hi*n], in.Raw[lo*n:])
			return
		}
		switch x := c.Work[worker][:hi-lo]; {
		case floats(from) && floats(to):
			in.Load(x, lo)
			out.Store(x, lo)
		case from == mil.Int32 && floats(to) && out.Rules == 0:
			for i, v := range in.Ints[lo:hi] {
				x[i] = narrow(to, float64(v))
			}
			out.Store(x, lo)
		case floats(from) && in.Rules == 0 && to == mil.Int32:
			in.Load(x, lo)
			ints := out.Ints[lo:hi]
			for i, v := range x {
				ints[i] = truncated(v)
			}
		default:
			for i := lo; i < hi; i++ {
				element.Store(to, out.Raw[i*size:], element.Load(from, in.Raw[i*n:]))
			}
		}
	}), run.Chunk
}

// truncated is v toward zero, the nearest int32 if it is none, and 0 for NaN.
func truncated(v float32) int32 {
	switch {
	case v >= math.MaxInt32:
		return math.MaxInt32
	case v >= math.MinInt32:
		return int32(v)
	case v != v:
		return 0
	}
	return math.MinInt32
}
