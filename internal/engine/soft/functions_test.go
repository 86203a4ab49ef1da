package soft_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/effort"
)

// functionRefs are definitions in float64, written with other identities than the kernels where there are some.
var functionRefs = map[string]struct {
	settings string
	f        func(x float64) float64
}{
	"ceil":  {"", func(x float64) float64 { return -math.Floor(-x) }},
	"floor": {"", func(x float64) float64 { return -math.Ceil(-x) }},
	"round": {"", roundRef},
	"sign": {"", func(x float64) float64 {
		if x != x || x == 0 {
			return x + 0 // -0 becomes 0
		}
		return math.Copysign(1, x)
	}},
	"square": {"", func(x float64) float64 { return math.Pow(x, 2) }},
	"neg":    {"", func(x float64) float64 { return math.Copysign(x, negative(x)) }},
	"exp2":   {"", func(x float64) float64 { return math.Pow(2, x) }},
	"erf":    {"", func(x float64) float64 { return math.Erf(x) }},
	"atan":   {"", func(x float64) float64 { return math.Atan2(x, 1) }},
	"asin":   {"", func(x float64) float64 { return math.Asin(x) }},
	"acos": {"", func(x float64) float64 {
		if math.Abs(x) > 1 {
			return math.NaN()
		}
		return 2 * math.Atan2(math.Sqrt((1-x)/2), math.Sqrt((1+x)/2))
	}},
	"sin":  {"", func(x float64) float64 { s, _ := math.Sincos(x); return s }},
	"cos":  {"", func(x float64) float64 { _, c := math.Sincos(x); return c }},
	"tan":  {"", func(x float64) float64 { s, c := math.Sincos(x); return s / c }},
	"sinh": {"", func(x float64) float64 { return (math.Expm1(x) - math.Expm1(-x)) / 2 }},
	"cosh": {"", func(x float64) float64 { return (math.Exp(x) + math.Exp(-x)) / 2 }},
	"asinh": {"", func(x float64) float64 {
		if x == 0 || math.IsInf(x, 0) {
			return x
		}
		a := math.Abs(x)
		return math.Copysign(math.Log1p(a+a*a/(1+math.Sqrt(a*a+1))), x)
	}},
	"acosh": {"", func(x float64) float64 {
		if math.IsInf(x, 1) {
			return x
		}
		return math.Log1p(x - 1 + math.Sqrt((x-1)*(x+1)))
	}},
	"atanh":       {"", func(x float64) float64 { return (math.Log1p(x) - math.Log1p(-x)) / 2 }},
	"log":         {"", nil}, // the default depends on the type
	"log/eps":     {", epsilon = fp32(0.5)", func(x float64) float64 { return math.Log2(x+0.5) * math.Ln2 }},
	"log/zero":    {", epsilon = fp16(0)", func(x float64) float64 { return math.Log2(x) * math.Ln2 }},
	"inverse":     {"", nil},
	"inverse/eps": {", epsilon = fp16(0.25)", func(x float64) float64 { return math.Pow(x+0.25, -1) }},
	"relu6":       {"", func(x float64) float64 { return between(x+0, 0, 6) }},
	"softsign":    {"", func(x float64) float64 { return math.Copysign(math.Abs(x)/(math.Abs(x)+1), x) }},
	"softplus":    {"", softplusRef},
	"clip": {", alpha = fp16(-0.5), beta = fp16(1.5)",
		func(x float64) float64 { return between(x, -0.5, 1.5) }},
	"clip/inverted": {", alpha = fp16(2), beta = fp16(-1)", func(x float64) float64 { return between(x, 2, -1) }},
	"elu": {", alpha = fp32(1.25)", func(x float64) float64 {
		if x < -20 {
			return 1.25 * (math.Exp(x) - 1)
		}
		return below(x, 0, 1.25*2*math.Exp(x/2)*math.Sinh(x/2))
	}},
	"leaky_relu": {", alpha = fp16(-0.125)", func(x float64) float64 { return below(x, 0, -0.125*x) }},
	"threshold":  {", alpha = fp16(0.75)", func(x float64) float64 { return between(x, 0.75, math.Inf(1)) }},
	"thresholded_relu": {", alpha = fp16(1)", func(x float64) float64 {
		return below(x, 1, 0)
	}},
	"clamped_relu": {", alpha = fp16(0.25), beta = fp16(2)", func(x float64) float64 {
		return between(below(x, 0, 0.25*x), math.Inf(-1), 2)
	}},
	"scaled_tanh": {", alpha = fp16(1.75), beta = fp16(0.625)", func(x float64) float64 {
		e := math.Expm1(2 * 0.625 * math.Abs(x))
		if e > 1e300 {
			return math.Copysign(1.75, x)
		}
		return math.Copysign(1.75*(e/(e+2)), x)
	}},
	"sigmoid_hard": {", alpha = fp16(0.2), beta = fp16(0.5)", func(x float64) float64 {
		return between(halfValue(halfBits(0.2))*x+0.5, 0, 1)
	}},
	"linear_activation": {", alpha = fp16(-3), beta = fp16(0.125)", func(x float64) float64 { return 0.125 - 3*x }},
}

// negative returns a number whose sign is the opposite of x's.
func negative(x float64) float64 {
	if math.Signbit(x) {
		return 1
	}
	return -1
}

// roundRef chooses the nearer of the two neighbors, the even one in the middle.
func roundRef(x float64) float64 {
	if math.IsInf(x, 0) || x != x {
		return x
	}
	low := math.Floor(x)
	up := x-low > 0.5 || x-low == 0.5 && math.Mod(low, 2) != 0
	if up {
		low++
	}
	return math.Copysign(math.Abs(low), x)
}

// between is min(max(x, lo), hi) for any numbers, NaN for NaN.
func between(x, lo, hi float64) float64 {
	if x < lo {
		x = lo
	}
	if x > hi {
		x = hi
	}
	return x
}

// below returns y where x < limit.
func below(x, limit, y float64) float64 {
	if x < limit {
		return y
	}
	return x
}

func softplusRef(x float64) float64 {
	if x > 40 {
		return x
	}
	return math.Log1p(math.Exp(x))
}

// functionOf returns the definition for operands of type d.
func functionOf(key string, d mil.DType) func(x float64) float64 {
	switch key {
	case "log":
		return func(x float64) float64 { return math.Log(x + load(d, store(d, 1e-45))) }
	case "inverse":
		return func(x float64) float64 { return 1 / (x + load(d, store(d, 1e-4))) }
	}
	return functionRefs[key].f
}

func functionCase(key string, x nd, fixed bool) operation {
	want := zeros(x.d, x.shape...)
	f := functionOf(key, x.d)
	for i, v := range x.v {
		want.v[i] = f(v)
	}
	return operation{op: opOf(key), in: []operand{{"x", x, fixed}}, settings: functionRefs[key].settings,
		want: []nd{want}}
}

// exactFunctions have exactly determined results, also the sign of zero.
var exactFunctions = map[string]bool{"ceil": true, "floor": true, "round": true, "sign": true, "square": true,
	"neg": true, "relu6": true, "clip": true, "leaky_relu": true, "threshold": true, "thresholded_relu": true,
	"clamped_relu": true}

func TestMathFunctions(t *testing.T) {
	for key := range functionRefs {
		for _, d := range []mil.DType{mil.FP16, mil.FP32} {
			t.Run(key+"/"+d.String(), func(t *testing.T) {
				r := seeded(t)
				for k := range effort.Cases(12) {
					x := fill(r, d, randomShape(r, 0, 5)...)
					if k%3 == 0 {
						x = special(r, d, x.shape...)
					}
					if key == "tan" && d == mil.FP32 {
						tame(x)
					}
					functionCase(key, x, k%4 == 1).check(t, exactFunctions[opOf(key)])
				}
			})
		}
	}
}

// tame keeps angles away from poles, where the two ways to compute a tangent differ in more than the last bit.
func tame(x nd) {
	for i, v := range x.v {
		if math.Abs(math.Cos(v)) < 0x1p-10 {
			x.v[i] = 1
		}
	}
}

// TestFunctionsOfEveryHalf runs each function over all 65,536 halves.
func TestMathFunctionsOfEveryHalf(t *testing.T) {
	effort.SkipShort(t)
	x := zeros(mil.FP16, 1<<16)
	for i := range x.v {
		x.v[i] = halfValue(uint16(i))
	}
	for key := range functionRefs {
		t.Run(key, func(t *testing.T) {
			functionCase(key, x, false).check(t, exactFunctions[opOf(key)])
		})
	}
}

func TestMathFunctionValues(t *testing.T) {
	inf, nan, minus0 := math.Inf(1), math.NaN(), math.Copysign(0, -1)
	for _, c := range []struct {
		key     string
		x, want float64
	}{
		{"round", 0.5, 0}, {"round", 1.5, 2}, {"round", 2.5, 2}, {"round", -0.5, minus0}, {"round", -1.5, -2},
		{"ceil", -0.5, minus0}, {"floor", -0.5, -1}, {"sign", minus0, 0}, {"sign", nan, nan}, {"sign", -inf, -1},
		{"log", 0, -inf}, {"log/zero", -1, nan}, {"log/zero", inf, inf}, {"inverse/eps", -0.25, inf},
		{"asin", 2, nan}, {"acos", 1, 0}, {"acosh", 0.5, nan}, {"atanh", 1, inf}, {"tan", inf, nan},
		{"softsign", inf, nan}, {"softplus", inf, inf}, {"softplus", -inf, 0}, {"relu6", nan, nan},
		{"thresholded_relu", 1, 1}, {"thresholded_relu", 0.999, 0}, {"elu", -inf, -1.25}, {"elu", minus0, minus0},
		{"clip/inverted", 0, -1}, {"square", 300, inf}, {"exp2", -24, 0x1p-24}, {"exp2", 16, inf}, {"erf", -inf, -1},
		{"neg", 0, minus0}, {"clamped_relu", -inf, -inf}, {"sigmoid_hard", -inf, 0}, {"linear_activation", inf, -inf},
	} {
		o := functionCase(c.key, nd{mil.FP16, []int{1}, []float64{c.x}}, false)
		got := halfValue(le.Uint16(o.run(t)[0]))
		if math.IsNaN(c.want) {
			require.True(t, math.IsNaN(got), "%s(%v) = %v", c.key, c.x, got)
			continue
		}
		require.Equal(t, halfBits(c.want), halfBits(got), "%s(%v) = %v", c.key, c.x, got)
	}
}

func TestIntFunctions(t *testing.T) {
	r := seeded(t)
	x := fill(r, mil.Int32, 3, 37)
	for i := range 20 {
		x.v[i] = float64(i*4 - 20)
	}
	for key, f := range map[string]struct {
		settings string
		f        func(x int32) int32
	}{
		"neg":       {"", func(x int32) int32 { return ^x + 1 }},
		"square":    {"", func(x int32) int32 { return int32(int64(x) * int64(x)) }},
		"threshold": {", alpha = int32(-7)", func(x int32) int32 { return max(x, -7) }},
		"sign": {"", func(x int32) int32 {
			if x == 0 {
				return 0
			}
			return x>>31 | 1
		}},
		"exp2": {"", func(x int32) int32 {
			return int32(min(math.Trunc(math.Pow(2, float64(x))), math.MaxInt32))
		}},
	} {
		want := zeros(mil.Int32, 3, 37)
		for i, v := range x.v {
			want.v[i] = float64(f.f(int32(v)))
		}
		operation{op: key, in: []operand{{"x", x, false}}, settings: f.settings, want: []nd{want}}.exact(t)
	}
}

func TestLogicalNotAndIdentity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawn(t, mil.Bool, shapeOf(t, 0, 5, 1500)...)
		want := zeros(mil.Bool, x.shape...)
		for i, v := range x.v {
			want.v[i] = 1 - v
		}
		one("logical_not", x, constant(t), "", want).exact(t)
	})
	perType(t, func(t *rapid.T, d mil.DType) {
		x := drawn(t, d, shapeOf(t, 0, 5, 1500)...)
		one("identity", x, constant(t), "", x).exact(t)
	})
}

// channelCase is an operator with vectors of one number for each channel.
func channelCase(r *rand.Rand, op string, x nd, f func(x float64, each ...float64) float64, args ...string) operation {
	o := operation{op: op, in: []operand{{"x", x, r.IntN(4) == 0}}}
	var vectors []nd
	for _, arg := range args {
		v := fill(r, x.d, x.shape[1])
		vectors = append(vectors, v)
		o.in = append(o.in, operand{arg, v, r.IntN(2) == 0})
	}
	want := zeros(x.d, x.shape...)
	each(x.shape, func(i []int) {
		var numbers []float64
		for _, v := range vectors {
			numbers = append(numbers, v.at(i[1]))
		}
		want.set(f(x.at(i...), numbers...), i...)
	})
	o.want = []nd{want}
	return o
}

func TestChannelwise(t *testing.T) {
	for _, d := range []mil.DType{mil.FP16, mil.FP32} {
		r := seeded(t)
		for k := range effort.Cases(60) {
			x := fill(r, d, randomShape(r, 3, 5)...)
			if k%4 == 0 {
				x = special(r, d, x.shape...)
			}
			channelCase(r, "prelu", x, func(x float64, a ...float64) float64 { return below(x, 0, a[0]*x) }, "alpha").
				exact(t)
			o := channelCase(r, "softplus_parametric", x, func(x float64, a ...float64) float64 {
				return a[0] * softplusRef(a[1]*x)
			}, "alpha", "beta")
			o.near(t, o.oneUlp)
		}
	}
}

// TestIntPowersOfTwo: 2 to the x is truncated below 1 and clamped above int32.
func TestIntPowersOfTwo(t *testing.T) {
	x := nd{mil.Int32, []int{6}, []float64{-1, 0, 1, 29, 30, 31}}
	want := nd{mil.Int32, []int{6}, []float64{0, 1, 2, 1 << 29, 1 << 30, math.MaxInt32}}
	operation{op: "exp2", in: []operand{{"x", x, false}}, want: []nd{want}}.exact(t)
}
