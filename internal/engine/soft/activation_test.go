package soft_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/effort"
)

// unaryRefs are the operators' definitions in float64.
var unaryRefs = map[string]struct {
	settings string
	f        func(x float64) float64
}{
	"abs":        {"", math.Abs},
	"relu":       {"", func(x float64) float64 { return max(x, 0) }},
	"sqrt":       {"", math.Sqrt},
	"exp":        {"", math.Exp},
	"sigmoid":    {"", func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }},
	"tanh":       {"", math.Tanh},
	"silu":       {"", func(x float64) float64 { return x / (1 + math.Exp(-x)) }},
	"rsqrt":      {"", func(x float64) float64 { return 1 / math.Sqrt(x+1e-12) }},
	"rsqrt/eps":  {", epsilon = fp32(0.5)", func(x float64) float64 { return 1 / math.Sqrt(x+0.5) }},
	"rsqrt/half": {", epsilon = fp16(0x1p-24)", func(x float64) float64 { return 1 / math.Sqrt(x+0x1p-24) }},
	"gelu":       {"", geluRef},
	"gelu/exact": {`, mode = string("EXACT")`, geluRef},
	"gelu/TANH":  {`, mode = string("TANH_APPROXIMATION")`, geluTanhRef},
	"gelu/SIGMOID": {`, mode = string("SIGMOID_APPROXIMATION")`,
		func(x float64) float64 { return x / (1 + math.Exp(-1.702*x)) }},
	"gelu/SIGMOID/nested": {`, mode = const()[val = string("SIGMOID_APPROXIMATION")]`,
		func(x float64) float64 { return x / (1 + math.Exp(-1.702*x)) }},
}

// geluRef is x times the cumulative normal distribution. Computing it from the
// complement keeps precision for x far below zero.
func geluRef(x float64) float64 {
	if x < 0 {
		return x * 0.5 * math.Erfc(-x*math.Sqrt(0.5))
	}
	return x * 0.5 * (1 + math.Erf(x*math.Sqrt(0.5)))
}

func geluTanhRef(x float64) float64 {
	return 0.5 * x * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*math.Pow(x, 3))))
}

// exactUnary are the operators with exactly determined results.
var exactUnary = map[string]bool{"abs": true, "relu": true, "sqrt": true}

// opOf is the operator in a key of unaryRefs.
func opOf(key string) string {
	op, _, _ := strings.Cut(key, "/")
	return op
}

func unaryCase(key string, x nd, fixed bool) operation {
	want := zeros(x.d, x.shape...)
	for i, f := range x.v {
		want.v[i] = unaryRefs[key].f(f)
	}
	return operation{op: opOf(key), in: []operand{{"x", x, fixed}}, settings: unaryRefs[key].settings, want: []nd{want}}
}

func (o operation) check(t testing.TB, exact bool) {
	t.Helper()
	if exact {
		o.exact(t)
		return
	}
	o.near(t, o.oneUlp)
}

func TestActivations(t *testing.T) {
	for key := range unaryRefs {
		for _, d := range []mil.DType{mil.FP16, mil.FP32} {
			t.Run(key+"/"+d.String(), func(t *testing.T) {
				r := seeded(t)
				for k := range effort.Cases(25) {
					x := fill(r, d, randomShape(r, 0, 5)...)
					if k%3 == 0 {
						x = special(r, d, x.shape...)
					}
					unaryCase(key, x, k%4 == 1).check(t, exactUnary[opOf(key)])
				}
			})
		}
	}
}

// TestActivationsOfEveryHalf runs each function over all 65,536 halves.
func TestActivationsOfEveryHalf(t *testing.T) {
	x := zeros(mil.FP16, 1<<16)
	for i := range x.v {
		x.v[i] = halfValue(uint16(i))
	}
	for key := range unaryRefs {
		t.Run(key, func(t *testing.T) { unaryCase(key, x, false).check(t, exactUnary[opOf(key)]) })
	}
}

func TestIntActivations(t *testing.T) {
	r := seeded(t)
	x := fill(r, mil.Int32, 3, 37)
	for key, f := range map[string]func(x int32) int32{
		"abs":  func(x int32) int32 { return max(x, -x) }, // the minimum is unchanged
		"relu": func(x int32) int32 { return max(x, 0) },
	} {
		want := zeros(mil.Int32, 3, 37)
		for i, v := range x.v {
			want.v[i] = float64(f(int32(v)))
		}
		operation{op: key, in: []operand{{"x", x, false}}, want: []nd{want}}.exact(t)
	}
}

// TestActivationValues checks results that are known in closed form.
func TestActivationValues(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		key     string
		x, want float64
	}{
		{"relu", -3, 0}, {"relu", nan, nan}, {"relu", inf, inf}, {"relu", -inf, 0},
		{"abs", -inf, inf}, {"abs", math.Copysign(0, -1), 0},
		{"sqrt", -1, nan}, {"sqrt", 4, 2}, {"sqrt", inf, inf},
		{"exp", 0, 1}, {"exp", -inf, 0}, {"exp", inf, inf}, {"exp", 11.09375, inf}, {"exp", 11, 59872}, {"exp", -20, 0},
		{"tanh", inf, 1}, {"tanh", -inf, -1}, {"tanh", 0, 0},
		{"sigmoid", 0, 0.5}, {"sigmoid", -inf, 0}, {"sigmoid", inf, 1}, {"sigmoid", -65504, 0},
		{"silu", 0, 0}, {"silu", -65504, math.Copysign(0, -1)}, {"silu", inf, inf}, {"silu", -inf, nan},
		{"gelu", 0, 0}, {"gelu", -65504, math.Copysign(0, -1)}, {"gelu", inf, inf}, {"gelu", 65504, 65504},
		{"rsqrt", 0, inf}, {"rsqrt", -1, nan}, {"rsqrt", 4, 0.5}, {"rsqrt", inf, 0}, {"rsqrt/half", 0, 4096},
	} {
		o := unaryCase(c.key, nd{mil.FP16, []int{1}, []float64{c.x}}, false)
		got := halfValue(le.Uint16(o.run(t)[0]))
		if math.IsNaN(c.want) {
			require.True(t, math.IsNaN(got), "%s(%v) = %v", c.key, c.x, got)
			continue
		}
		require.Equal(t, halfBits(c.want), halfBits(got), "%s(%v) = %v", c.key, c.x, got)
	}
}

// Zeros pass elu with their signs, whatever alpha is.
func TestEluOfZeros(t *testing.T) {
	x := nd{mil.FP32, []int{2}, []float64{0, math.Copysign(0, -1)}}
	operation{op: "elu", in: []operand{{"x", x, false}}, settings: ", alpha = fp32(-1)", want: []nd{x}}.exact(t)
}
