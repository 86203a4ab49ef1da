package numerics

import (
	"math"

	"github.com/anekit/anekit/ane/fp16"
)

// functions are those that chips compute by tables, or by steps over tables. epsilon is added to the operand
// of rsqrt, inverse and log, and rounded to fp16; the other functions ignore it. nil is a function, or an operator that
// contains one, whose tables or steps are not published. Functions that the engine leaves to the CPU are not here.
var functions = map[string]func(r Rules, x, epsilon float64) float64{
	"sigmoid":  func(r Rules, x, _ float64) float64 { return r.sigmoid(x) },
	"tanh":     func(r Rules, x, _ float64) float64 { return odd(x, r.tanh) },
	"erf":      func(r Rules, x, _ float64) float64 { return odd(x, r.erf) },
	"sin":      func(r Rules, x, _ float64) float64 { return r.sine(x, 0) },
	"cos":      func(r Rules, x, _ float64) float64 { return r.sine(x, 1) },
	"exp":      func(r Rules, x, _ float64) float64 { return r.exp(x) },
	"log":      func(r Rules, x, eps float64) float64 { return r.log(r.round(x + eps)) },
	"sqrt":     func(r Rules, x, _ float64) float64 { return r.sqrt(x) },
	"rsqrt":    func(r Rules, x, eps float64) float64 { return r.rsqrt(r.round(x + eps)) },
	"inverse":  func(r Rules, x, eps float64) float64 { return r.inverse(r.round(x + eps)) },
	"softplus": func(r Rules, x, _ float64) float64 { return r.softplus(r.exp(x)) },
	"softsign": func(r Rules, x, _ float64) float64 { return x * r.inverse(r.round(1+math.Abs(x))) },
	"round":    func(r Rules, x, _ float64) float64 { return r.integer(x) },

	"gelu": nil, "silu": nil, "elu": nil, "exp2": nil, "scaled_tanh": nil, "softplus_parametric": nil, "atan": nil,
	"pow": nil, "real_div": nil, "l2_norm": nil, "local_response_norm": nil, "l2_pool": nil,
	"reduce_l2_norm": nil, "reduce_log_sum": nil,
}

// Unary returns what a chip of these rules makes of f(x) in fp16. f is sigmoid, tanh, erf, sin, cos, exp, log, sqrt,
// rsqrt or inverse by Tables, softplus or softsign by Steps and Tables, round by RoundInHalf. ok is false for any other
// function, and if r lacks the rule. The result is then the exact function, rounded once.
//
// The tables are those of the M6, reconstructed, and equal every error maximum that MS publishes but one. That is sin
// beside multiples of pi (45 ulp at 3.1406, where the model has 1.3). The other modes use them too: AG's maxima of
// sigmoid and tanh on the M1 agree with them under its rounding. AG's trigonometric functions err by up to 0.12 at
// seams, which the model lacks.
func (r Rules) Unary(f string, x fp16.Bits, epsilon float64) (y fp16.Bits, ok bool) {
	if !r.Defines(f) {
		return 0, false
	}
	return r.Round(functions[f](r, float64(r.Value(x)), epsilon)), true
}

// Defines reports whether Unary knows f under these rules.
func (r Rules) Defines(f string) bool {
	switch f {
	case "round":
		return r.Has(RoundInHalf)
	case "softplus", "softsign":
		return r.Has(Tables | Steps)
	}
	return r.Has(Tables) && functions[f] != nil
}

// Leaves reports whether chips of these rules compute an operator by tables or steps that are not published. The
// software engine then computes the operator exactly and rounds once.
func (r Rules) Leaves(op string) bool {
	f, listed := functions[op]
	return r.Has(Tables) && listed && f == nil
}

// ExpSum returns the functions of the elements and of their sum in reduce_log_sum_exp, and whether they are a chip's:
// exp gives fp16, and log 0 for sums above 65536. Measured for 32 elements: right at 7.6289, 0 at 7.6328. That the sum
// is wide is inferred from it.
func (r Rules) ExpSum() (exp, log func(float64) float64, chip bool) {
	if !r.Has(Tables | Steps) {
		return math.Exp, math.Log, false
	}
	return r.exp, func(sum float64) float64 {
		if sum == 65536 {
			return 16 * ln2
		}
		return r.log(sum)
	}, true
}

// round is Round as a number: what the next step reads.
func (r Rules) round(f float64) float64 { return float64(r.Value(r.Round(f))) }

// knots are the values of a table at equal distances h from k0 on. They are the exact function rounded to fp16, half
// away (MS table 8-6 and the equality of the error maxima).
type knots struct {
	k0, h  float64
	values []float64
}

func sample(n int, k0, h float64, f func(float64) float64) knots {
	k := knots{k0: k0, h: h}
	for i := range n {
		k.values = append(k.values, HalfAway.round(f(k0+float64(float64(i)*h))))
	}
	return k
}

// tables are the knots by function. They never change.
var tables = struct{ sigmoid, tanh, erf, sin, exp, log, sqrt, rsqrt, inverse knots }{
	sigmoid: sample(33, -8, 0.5, func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }),
	tanh:    sample(33, 0, 1.0/8, math.Tanh),
	erf:     sample(33, 0, 1.0/16, math.Erf),
	sin:     sample(33, 0, math.Pi/64, math.Sin),
	exp:     sample(33, 0, 1.0/32, math.Exp2),
	log:     sample(33, 0.5, 1.0/64, math.Log2),
	sqrt:    sample(25, 0.5, 1.0/16, math.Sqrt),
	rsqrt:   sample(25, 0.5, 1.0/16, func(x float64) float64 { return 1 / math.Sqrt(x) }),
	inverse: sample(33, 0.5, 1.0/64, func(x float64) float64 { return 1 / x }),
}

// at interpolates: y = fp16(v[i] + fp16((v[i+1]-v[i])*t)).
func (r Rules) at(k *knots, x float64) float64 {
	s := (x - k.k0) / k.h
	i := min(max(int(math.Floor(s)), 0), len(k.values)-2)
	low, high := k.values[i], k.values[i+1]
	return r.round(low + r.round((high-low)*(s-float64(i))))
}

func odd(x float64, f func(float64) float64) float64 { return math.Copysign(f(math.Abs(x)), x) }

// Ends of the tables. Below -8 sigmoid falls to 0 at -9.9375 in a line, above 2 erf rises to 1. Both are inferred from
// the places of MS's error maxima, which rule saturation at the knots out.
const (
	sigmoidZero = -9.9375
	erfSlope    = 0.0130
)

func (r Rules) sigmoid(x float64) float64 {
	k := &tables.sigmoid
	switch {
	case x > 8:
		return 1
	case x >= -8:
		return r.at(k, x)
	case x > sigmoidZero:
		return k.values[0] * (x - sigmoidZero) / (-8 - sigmoidZero)
	}
	return 0
}

func (r Rules) tanh(x float64) float64 {
	if x > 4 {
		return 1
	}
	return r.at(&tables.tanh, x)
}

func (r Rules) erf(x float64) float64 {
	if x > 2 {
		return min(1, tables.erf.values[32]+float64(erfSlope*(x-2)))
	}
	return r.at(&tables.erf, x)
}

// sine is the sine, quarters of a turn later (inferred): a quarter wave, mirrored and negated.
func (r Rules) sine(x float64, quarters int) float64 {
	q := math.Floor(x / (math.Pi / 2))
	at := x - float64(q*(math.Pi/2))
	turn := (int(q) + quarters) & 3
	if turn&1 != 0 {
		at = math.Pi/2 - at
	}
	y := r.at(&tables.sin, at)
	if turn&2 != 0 {
		return -y
	}
	return y
}

// Factors between natural and binary logarithms in fp16 (MS table 8-6).
const (
	log2E = 1.4423828125
	ln2   = 0.693359375
)

func (r Rules) exp(x float64) float64 {
	z := r.round(x * log2E)
	n := math.Floor(z)
	return r.round(math.Ldexp(r.at(&tables.exp, z-n), int(n)))
}

// log has the clamps 0 and infinity, where it is -infinity and 0 (MS: header of the table). -infinity is the
// number -65536 that the factor then multiplies: log 0 = -45440 (AG, M1). Below 0 it is 0 (AG, M1).
func (r Rules) log(x float64) float64 {
	switch {
	case x < 0 || x >= 65536:
		return 0
	case x == 0:
		return -65536 * ln2
	}
	m, e := math.Frexp(x)
	return r.round(r.at(&tables.log, m)+float64(e)) * ln2
}

// split returns x = m * 4^e with m in [0.5, 2).
func split(x float64) (m float64, e int) {
	m, e = math.Frexp(x)
	if e&1 != 0 {
		m, e = 2*m, e-1
	}
	return m, e / 2
}

// sqrt has the clamps 0 and infinity, where it is 0 and infinity (MS: header); below 0 it is 0 (AG, M1).
func (r Rules) sqrt(x float64) float64 {
	switch {
	case x <= 0:
		return 0
	case x >= 65536:
		return math.Inf(1)
	}
	m, e := split(x)
	return math.Ldexp(r.at(&tables.sqrt, m), e)
}

// rsqrt is infinite at 0 and 0 below it (AG, M1); 0 at infinity is inferred.
func (r Rules) rsqrt(x float64) float64 {
	switch {
	case x < 0 || x >= 65536:
		return 0
	case x == 0:
		return math.Inf(1)
	}
	m, e := split(x)
	return math.Ldexp(r.at(&tables.rsqrt, m), -e)
}

// inverse has the clamps 0 and infinity, where it is infinity and 0 (MS: header). -0 is 0 (AG: infinite, M1).
func (r Rules) inverse(x float64) float64 {
	a := math.Abs(x)
	switch {
	case a == 0:
		return math.Inf(1)
	case a >= 65536:
		return 0
	}
	m, e := math.Frexp(a)
	return math.Copysign(math.Ldexp(r.at(&tables.inverse, m), -e), x)
}

// softplus is the logarithm of 1 + e, where e is the exponential.
func (r Rules) softplus(e float64) float64 {
	if r.Has(SoftplusEnds) && e > 32768 {
		return 0
	}
	return r.log(r.round(1 + e))
}

// integer truncates x + copysign(0.5, x), added in fp16 (AF on the M5; that this is the cause is inferred).
func (r Rules) integer(x float64) float64 {
	return math.Trunc((r | HalfAway).round(x + math.Copysign(0.5, x)))
}
