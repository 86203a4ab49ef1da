package soft_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/internal/numerics"
)

// chipModes are the arithmetics of chips; unless effort.Full, two that differ in most rules.
func chipModes() []numerics.Mode {
	if !effort.Full() {
		return []numerics.Mode{numerics.M1, numerics.M6}
	}
	return []numerics.Mode{numerics.M1, numerics.M2, numerics.M4, numerics.M5, numerics.M6}
}

// evaluateHalves runs a program with the inputs, in the order of its parameters, under the options, and
// returns its first output.
func evaluateHalves(t testing.TB, text string, in [][]fp16.Bits, opts ...soft.Option) []fp16.Bits {
	t.Helper()
	d, err := ane.Open(soft.New(opts...), "")
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	m, err := d.Compile(t.Context(), ane.Source{File: "numerics.mil", Text: []byte(text)})
	require.NoError(t, err, text)
	defer func() { require.NoError(t, m.Close(t.Context())) }()
	r, err := m.NewRequest(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	for i, l := range m.Inputs() {
		data := make([]byte, 2*len(in[i]))
		for j, h := range in[i] {
			le.PutUint16(data[2*j:], uint16(h))
		}
		_, err := r.Input(l.Name).Write(data)
		require.NoError(t, err)
	}
	_, err = r.Evaluate(t.Context())
	require.NoError(t, err)
	l := m.Outputs()[0]
	data := make([]byte, l.PackedBytes())
	_, err = r.Output(l.Name).Read(data)
	require.NoError(t, err)
	out := make([]fp16.Bits, len(data)/2)
	for i := range out {
		out[i] = fp16.Bits(le.Uint16(data[2*i:]))
	}
	return out
}

func requireHalves(t testing.TB, want, got []fp16.Bits, what string) {
	t.Helper()
	require.Len(t, got, len(want))
	for i := range want {
		if want[i] != got[i] {
			t.Fatalf("halves differ: %s: element %d is %#04x, not %#04x", what, i, got[i], want[i])
		}
	}
}

// everyHalf is the operand of tests over all bit patterns.
func everyHalf() []fp16.Bits {
	all := make([]fp16.Bits, 1<<16)
	for i := range all {
		all[i] = fp16.Bits(i)
	}
	return all
}

const halves = "tensor<fp16, [65536]>"

// TestUnaryOfEveryHalfInEveryMode: the table of a large step and the loop of a small one give what package
// numerics says.
func TestUnaryOfEveryHalfInEveryMode(t *testing.T) {
	x := everyHalf()
	for _, m := range chipModes() {
		r := m.Rules()
		for _, op := range []string{"sigmoid", "tanh", "exp", "sqrt"} {
			text := "program(1.3)\n{ func main<ios18>(" + halves + " x) { " + halves + " y = " + op +
				"(x = x)[name = string(\"y\")]; } -> (y); }"
			want := make([]fp16.Bits, len(x))
			for i, h := range x {
				var ok bool
				want[i], ok = r.Unary(op, h, 0)
				require.True(t, ok)
			}
			requireHalves(t, want, evaluateHalves(t, text, [][]fp16.Bits{x}, soft.Numerics(m)), m.String()+" "+op)
			few := "program(1.3)\n{ func main<ios18>(tensor<fp16, [64]> x) { tensor<fp16, [64]> y = " + op +
				"(x = x)[name = string(\"y\")]; } -> (y); }"
			requireHalves(t, want[0x3c00:][:64],
				evaluateHalves(t, few, [][]fp16.Bits{x[0x3c00:][:64]}, soft.Numerics(m)), m.String()+" "+op)
		}
	}
}

// TestElementwiseInEveryMode: exact inside, one rounding.
func TestElementwiseInEveryMode(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	x, y := everyHalf(), make([]fp16.Bits, 1<<16)
	for _, m := range chipModes() {
		r := m.Rules()
		for op, f := range map[string]func(a, b float64) float64{
			"add":     func(a, b float64) float64 { return a + b },
			"sub":     func(a, b float64) float64 { return a - b },
			"mul":     func(a, b float64) float64 { return a * b },
			"maximum": func(a, b float64) float64 { return max(a, b) },
			"minimum": func(a, b float64) float64 { return min(a, b) },
		} {
			for round := range effort.Cases(8) {
				want := make([]fp16.Bits, len(x))
				for i := range x {
					y[i] = fp16.Bits(rng.Uint32())
					if round&1 == 0 { // near x, where sums tie
						y[i] = x[i]&^0x7fff | max(x[i]&0x7fff, 0x3000) - fp16.Bits(rng.Uint32N(0x3000))
					}
					want[i] = r.Round(f(float64(r.Value(x[i])), float64(r.Value(y[i]))))
				}
				text := fmt.Sprintf("program(1.3)\n{ func main<ios18>(%s x, %s y) { %s z = %s(x = x, y = y)"+
					"[name = string(\"z\")]; } -> (z); }", halves, halves, halves, op)
				requireHalves(t, want, evaluateHalves(t, text, [][]fp16.Bits{x, y}, soft.Numerics(m)),
					m.String()+" "+op)
			}
		}
	}
}

// TestMeasuredOperatorsOfTheM1 runs AG's values of the M1 as programs.
func TestMeasuredOperatorsOfTheM1(t *testing.T) {
	const one = "tensor<fp16, [1, 1, 1, 4]>"
	for _, c := range []struct {
		call    string
		x, want []fp16.Bits
	}{
		{"softmax(x = x, axis = int32(-1))", []fp16.Bits{0x63d0, 0x3c00, 0x4000, 0x4200}, []fp16.Bits{0x3c00, 0, 0, 0}},
		{"relu(x = x)", []fp16.Bits{0x7e00, 0xfe00, 0x8000, 0x3c00}, []fp16.Bits{0x7c00, 0, 0, 0x3c00}},
		{"sigmoid(x = x)", []fp16.Bits{0x7e00, 0x7c00, 0xfc00, 0}, []fp16.Bits{0x3c00, 0x3c00, 0, 0x3800}},
		{"erf(x = x)", []fp16.Bits{0x7e00, 0xfe00, 0, 0}, []fp16.Bits{0x3c00, 0xbc00, 0, 0}},
		{"sqrt(x = x)", []fp16.Bits{0xbc00, 0x3c00, 0, 0x4400}, []fp16.Bits{0, 0x3c00, 0, 0x4000}},
		{"log(x = x, epsilon = fp32(1e-45))", []fp16.Bits{0, 0xbc00, 0x3c00, 0x7c00}, []fp16.Bits{0xf98c, 0, 0, 0}},
		{"rsqrt(x = x)", []fp16.Bits{0x8000, 0xbc00, 0x3c00, 0x4400}, []fp16.Bits{0x7c00, 0, 0x3c00, 0x3800}},
		{"softplus(x = x)", []fp16.Bits{0x7c00, 0x7e00, 0x4b00, 0xfc00}, []fp16.Bits{0, 0, 0, 0}},
		{"softsign(x = x)", []fp16.Bits{0x7c00, 0xfc00, 0, 0x3c00}, []fp16.Bits{0, 0, 0, 0x3800}},
		{"sub(x = x, y = x)", []fp16.Bits{0x7c00, 0xfc00, 0x7e00, 1}, []fp16.Bits{0, 0, 0, 0}},
		{"mul(x = x, y = fp16(0))", []fp16.Bits{0x7c00, 0x7e00, 0xfc00, 1}, []fp16.Bits{0, 0, 0, 0}},
		{"real_div(x = fp16(1), y = x)", []fp16.Bits{0x8000, 0x4000, 0, 0xc000}, []fp16.Bits{0x7c00, 0x3800, 0x7c00,
			0xb800}},
		{"maximum(x = x, y = fp16(2))", []fp16.Bits{0x7e00, 0, 0x4200, 0xfe00}, []fp16.Bits{0x7c00, 0x4000, 0x4200,
			0x4000}},
	} {
		text := "program(1.3)\n{ func main<ios18>(" + one + " x) { " + one + " y = " + c.call +
			"[name = string(\"y\")]; } -> (y); }"
		requireHalves(t, c.want, evaluateHalves(t, text, [][]fp16.Bits{c.x}, soft.Numerics(numerics.M1)), c.call)
	}
}

// reduce_log_sum_exp of 32 equal elements is right up to 7.6289 and 0 from 7.6328 on, as measured, however they lie.
func TestChipLogSumExp(t *testing.T) {
	for _, shape := range []string{"[1, 32, 3]", "[3, 32]", "[32, 1, 3, 1]"} {
		axis := strings.Count(shape[:strings.Index(shape, "32")], ",")
		for x, right := range map[fp16.Bits]bool{0x47a1: true, 0x47a2: false, 0x3c00: true, 0xc400: true} {
			in := slices.Repeat([]fp16.Bits{x}, 96)
			text := fmt.Sprintf(`program(1.3)
{ func main<ios18>(tensor<fp16, %s> x) { tensor<fp16, [3]> y = reduce_log_sum_exp(x = x, axes = tensor<int32, [1]>([%d]),
keep_dims = bool(false))[name = string("y")]; } -> (y); }`, shape, axis)
			if shape != "[3, 32]" {
				text = strings.Replace(text, "[3]> y", map[string]string{"[1, 32, 3]": "[1, 3]> y",
					"[32, 1, 3, 1]": "[1, 3, 1]> y"}[shape], 1)
			}
			for _, m := range chipModes() {
				for _, y := range evaluateHalves(t, text, [][]fp16.Bits{in}, soft.Numerics(m)) {
					if want := float64(x.Float32()) + math.Log(32); right {
						require.InDelta(t, want, float64(y.Float32()), 0.02, "%s of %v in %v", shape, x, m)
					} else {
						require.Zero(t, y, "%s of %v in %v", shape, x, m)
					}
				}
			}
		}
	}
}

// One note of a program has the operators that a chip's mode leaves exact, and their numbers. Reference has none.
func TestChipNotes(t *testing.T) {
	const text = `program(1.3)
{ func main<ios18>(tensor<fp16, [2]> x) {
tensor<fp16, [2]> a = silu(x = x)[name = string("a")];
tensor<fp16, [2]> b = real_div(x = a, y = x)[name = string("b")];
tensor<fp16, [2]> c = silu(x = b)[name = string("c")];
tensor<fp16, [2]> d = tanh(x = c)[name = string("d")];
tensor<fp16, [2]> e = silu(x = d)[name = string("e")];
tensor<fp16, [2]> f = add(x = e, y = d)[name = string("f")];
} -> (f); }`
	notes := func(text string, m numerics.Mode) []string {
		return compileOn(t, soft.New(soft.Numerics(m)), text, nil).Notes()
	}
	for _, m := range numerics.Modes()[1:] {
		require.Equal(t, []string{"computed exactly and rounded once, as the chip's tables and steps for them are not " +
			"published: silu (3), real_div (1)"}, notes(text, m))
		require.Empty(t, notes(strings.NewReplacer("silu", "relu", "real_div", "mul").Replace(text), m))
		require.NotContains(t, strings.Join(notes(strings.ReplaceAll(text, "fp16", "fp32"), m), "\n"), "exactly")
	}
	require.Empty(t, notes(text, numerics.Reference))
}
