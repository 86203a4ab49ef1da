package soft_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/internal/numerics"
)

// floatSums are the sums of rules without ProductRounding: float32, in order, infinite for good from 32768 with Range.
type floatSums struct{ numerics.Rules }

func (r floatSums) MAC(x, w []fp16.Bits, bias fp16.Bits) fp16.Bits {
	var sum float32
	reached := func() bool { return r.Has(numerics.Range) && (sum >= 32768 || sum <= -32768) }
	for i := range x {
		if !reached() {
			sum += x[i].Float32() * w[i].Float32()
		}
	}
	if !reached() && !r.Has(numerics.BiasLast) {
		sum += bias.Float32()
	}
	if reached() {
		sum = float32(math.Inf(int(sum)))
	}
	rounded := r.Round(float64(sum))
	if r.Has(numerics.BiasLast) && bias != 0 {
		rounded = r.Round(float64(rounded.Float32()) + float64(bias.Float32()))
	}
	return rounded
}

// sumsOfRules are sets of rules with their scalar functions: those of chips, fixed point that leaves the range, and
// float32.
func sumsOfRules() map[numerics.Rules]summer {
	const exact = numerics.ProductRounding | numerics.ProductDropped
	list := map[numerics.Rules]summer{}
	for _, r := range []numerics.Rules{numerics.M1.Rules(), numerics.M6.Rules(), exact, exact | numerics.BiasLast,
		exact | numerics.Fours | numerics.HalfAway} {
		list[r] = r
	}
	for _, r := range []numerics.Rules{numerics.Range, numerics.BiasLast | numerics.HalfAway} {
		list[r] = floatSums{r}
	}
	return list
}

// Products that take several tiles of rows and columns, the last ones in part, with sums on both sides of the range.
func TestTilesUnderRules(t *testing.T) {
	r := seeded(t)
	conv := convProgram{n: 2, in: 4, out: 70, h: 2, w: 141, kh: 2, kw: 2, groups: 2, stride: 1, dilation: 1, pad: 1}
	narrow := convProgram{n: 1, in: 3, out: 300, h: 1, w: 3, kh: 1, kw: 1, groups: 1, stride: 1, dilation: 1}
	for rules, scalar := range sumsOfRules() {
		for _, p := range []convProgram{conv, narrow} {
			if _, ok := scalar.(floatSums); ok && p.kh > 1 {
				p.in = p.groups // float32 sums have the order of the reference, which differs for several channels
			}
			p.weight, p.bias = signed(r, 0x5000, 0x5a00, p.out*p.in/p.groups*p.kh*p.kw), signed(r, 0x5000, 0x7400,
				p.out)
			x := signed(r, 0x5000, 0x5a00, p.n*p.in*p.h*p.w)
			requireHalves(t, p.want(scalar, x), evaluateHalves(t, p.text(), [][]fp16.Bits{x}, soft.Rules(rules)),
				fmt.Sprintf("%s, conv of %d x %d", rules, p.out, p.w))
		}
		for _, s := range [][3]int{{70, 6, 260}, {270, 7, 3}} {
			m, k, n := s[0], s[1], s[2]
			x, w, bias := signed(r, 0x5000, 0x5a00, m*k), signed(r, 0x5000, 0x5a00, n*k), signed(r, 0x5000, 0x7400, n)
			var want []fp16.Bits
			for i := range m {
				for j := range n {
					want = append(want, scalar.MAC(x[i*k:][:k], w[j*k:][:k], bias[j]))
				}
			}
			text := fmt.Sprintf("program(1.3)\n{ func main<ios18>(tensor<fp16, [%d, %d]> x) { tensor<fp16, [%d, "+
				"%d]> y = "+
				"linear(x = x, weight = %s, bias = %s)[name = string(\"y\")]; } -> (y); }", m, k, m, n,
				halvesOf(fmt.Sprintf("[%d, %d]", n, k), w), halvesOf(fmt.Sprintf("[%d]", n), bias))
			requireHalves(t, want, evaluateHalves(t, text, [][]fp16.Bits{x}, soft.Rules(rules)),
				fmt.Sprintf("%s, linear of %v", rules, s))
		}
	}
}

// Small products count by their exponents also in sums that pass the range and come back.
func TestSmallProductsOfLargeSums(t *testing.T) {
	r := seeded(t)
	const m, k, n = 37, 9, 5
	x, w := signed(r, 0x0c00, 0x2800, m*k), signed(r, 0x0c00, 0x2800, n*k)
	for i := range m {
		x[i*k], x[i*k+1] = 0x5c00, 0x5c00
	}
	for i := range n {
		w[i*k], w[i*k+1] = 0x5c00, 0xdc00
	}
	text := fmt.Sprintf("program(1.3)\n{ func main<ios18>(tensor<fp16, [%d, %d]> x) { tensor<fp16, [%d, %d]> y = "+
		"linear(x = x, weight = %s)[name = string(\"y\")]; } -> (y); }", m, k, m, n, halvesOf(fmt.Sprintf("[%d, %d]", n,
		k), w))
	for rules, scalar := range sumsOfRules() {
		var want []fp16.Bits
		for i := range m {
			for j := range n {
				want = append(want, scalar.MAC(x[i*k:][:k], w[j*k:][:k], 0))
			}
		}
		requireHalves(t, want, evaluateHalves(t, text, [][]fp16.Bits{x}, soft.Rules(rules)), rules.String())
	}
}

// Steps that follow a product compute on its tiles as they compute on the whole result.
func TestFusedTilesUnderRules(t *testing.T) {
	r := seeded(t)
	const text = `program(1.3)
{
    func main<ios18>(tensor<fp16, [2, 70, 6]> x, tensor<fp16, [6, 40]> w, tensor<fp16, [40]> b) {
        tensor<fp16, [2, 70, 40]> a = matmul(x = x, y = w);
        tensor<fp16, [2, 70, 40]> c = add(x = a, y = b);
        tensor<fp16, [2, 70, 40]> y = relu(x = c)[name = string("y")];
    } -> (y);
}`
	in := [][]fp16.Bits{signed(r, 0x3000, 0x4400, 2*70*6), signed(r, 0x3000, 0x4400, 6*40), signed(r, 0x3000, 0x4400,
		40)}
	for rules := range sumsOfRules() {
		requireHalves(t, evaluateHalves(t, text, in, soft.Rules(rules), soft.Unfused()),
			evaluateHalves(t, text, in, soft.Rules(rules)), rules.String())
	}
}

// A sum of float32 is infinite from 32768 on: after a product, and after the bias.
func TestRangeOfFloatSums(t *testing.T) {
	half := func(f float64) fp16.Bits { return fp16.FromFloat64(f) }
	for _, c := range []struct{ x0, x1, bias, want float64 }{
		{256, 0, 0, 32768}, {256, -1, 0, 32768}, {-256, 0, 0, -32768}, {-256, 1, 0, -32768},
		{255, 0, 128, 32768}, {-255, 0, -128, -32768}, {-255, 0, 128, -32512}, {255, 0.5, -128, 32576},
		{255.75, 0, 16, 32752}, {-255.75, 0, -16, -32752},
	} {
		text := "program(1.3)\n{ func main<ios18>(tensor<fp16, [1, 2]> x) { tensor<fp16, [1, 1]> y = linear(x = x, " +
			"weight = " + halvesOf("[1, 2]", []fp16.Bits{half(128), half(128)}) + ", bias = " +
			halvesOf("[1]", []fp16.Bits{half(c.bias)}) + ")[name = string(\"y\")]; } -> (y); }"
		want := half(c.want)
		if math.Abs(c.want) >= 32768 {
			want = half(math.Inf(int(c.want)))
		}
		requireHalves(t, []fp16.Bits{want}, evaluateHalves(t, text, [][]fp16.Bits{{half(c.x0), half(c.x1)}},
			soft.Rules(numerics.Range)), fmt.Sprint(c))
	}
}

// Without Exponent31 operators on two tensors of halves are those of the reference with the rounding of the rules:
// 0 / 0 is NaN.
func TestBinaryUnderRounding(t *testing.T) {
	r := seeded(t)
	x, y := signed(r, 0, 0x7c00, 3000), signed(r, 0, 0x7c00, 3000)
	for i := range 1500 { // sums of numbers of one size tie
		y[i] = x[i]&0x7c00 + fp16.Bits(r.IntN(1024))
	}
	x[0], y[0], x[1], y[1] = 0, 0, 0x3c00, 0
	for op, f := range map[string]func(x, y float64) float64{
		"add":      func(x, y float64) float64 { return x + y },
		"sub":      func(x, y float64) float64 { return x - y },
		"mul":      func(x, y float64) float64 { return x * y },
		"real_div": func(x, y float64) float64 { return x / y },
	} {
		text := "program(1.3)\n{ func main<ios18>(tensor<fp16, [3000]> x, tensor<fp16, [3000]> y) { tensor<fp16, " +
			"[3000]> " +
			"z = " + op + "(x = x, y = y)[name = string(\"z\")]; } -> (z); }"
		const rules = numerics.HalfAway
		got := evaluateHalves(t, text, [][]fp16.Bits{x, y}, soft.Rules(rules))
		for i, g := range got {
			want := rules.Round(f(float64(x[i].Float32()), float64(y[i].Float32())))
			if nan := want&0x7fff > 0x7c00; nan != (g&0x7fff > 0x7c00) || !nan && g != want {
				t.Fatalf("%s of %#04x and %#04x is %#04x, not %#04x", op, x[i], y[i], g, want)
			}
		}
	}
}

// attentionUnder is attention of one image as a chip's operators, with exact functions where the rules have no table.
func attentionUnder(r numerics.Rules, q, k, v []fp16.Bits, e, ev int) (out []fp16.Bits) {
	number := func(h fp16.Bits) float64 { return float64(r.Value(h)) }
	apply := func(op string, exact func(float64) float64, x fp16.Bits) fp16.Bits {
		if y, ok := r.Unary(op, x, 0); ok {
			return y
		}
		return r.Round(exact(number(x)))
	}
	n, scale := len(k)/e, number(r.Round(1/math.Sqrt(float64(e))))
	for i := range len(q) / e {
		row, top, sum := make([]fp16.Bits, n), math.Inf(-1), 0.0
		for j := range row {
			row[j] = r.Round(number(r.MAC(q[i*e:][:e], k[j*e:][:e], 0)) * scale)
			top = max(top, number(row[j]))
		}
		for j, h := range row {
			row[j] = apply("exp", math.Exp, r.Round(number(h)-top))
			sum += number(row[j])
		}
		by := number(apply("inverse", func(x float64) float64 { return 1 / x }, r.Round(sum)))
		for j, h := range row {
			row[j] = r.Round(number(h) * by)
		}
		for j := range ev {
			out = append(out, r.MAC(row, column(v, n, ev, j), 0))
		}
	}
	return out
}

// Several tiles of rows of a constant query, and rules with and without tables.
func TestAttentionOfConstantQuery(t *testing.T) {
	r := seeded(t)
	const l, n, e, ev = 75, 6, 5, 3
	q, k, v := signed(r, 0x3000, 0x4200, l*e), signed(r, 0x3000, 0x4200, n*e), signed(r, 0x3000, 0x4200, n*ev)
	text := fmt.Sprintf("program(1.3)\n{ func main<ios18>(tensor<fp16, [1, %d, %d]> k, tensor<fp16, [1, %d, %d]> v) { "+
		"tensor<fp16, [1, %d, %d]> y = scaled_dot_product_attention(query = %s, key = k, value = v)"+
		"[name = string(\"y\")]; } -> (y); }", n, e, n, ev, l, ev, halvesOf(fmt.Sprintf("[1, %d, %d]", l, e), q))
	for _, rules := range []numerics.Rules{numerics.M1.Rules(), numerics.M6.Rules(), numerics.ProductRounding |
		numerics.HalfAway} {
		requireHalves(t, attentionUnder(rules, q, k, v, e, ev),
			evaluateHalves(t, text, [][]fp16.Bits{k, v}, soft.Rules(rules)), rules.String())
	}
}

// On the M1 a slice that begins inside the last axis multiplies by 16 in between, so that 4095 becomes infinite.
func TestSlicesOfTheM1(t *testing.T) {
	x := []fp16.Bits{0x3c00, 0x6bff, 0x6c00, 0xec00, 0x6bff, 0x7bff, 0x8001, 0xfbff} // 4094 is 0x6bff, 4096 is 0x6c00
	slice := func(begin string) string {
		return "program(1.3)\n{ func main<ios18>(tensor<fp16, [2, 4]> x) { tensor<fp16, [1, 3]> y = " +
			"slice_by_size(x = x, " +
			"begin = tensor<int32, [2]>(" + begin + "), size = tensor<int32, [2]>([1, 3]))[name = string(\"y\")]; " +
			"} -> (y); }"
	}
	for _, m := range append(chipModes(), numerics.Reference) {
		inside := []fp16.Bits{m.Rules().SliceInside(x[5]), m.Rules().SliceInside(x[6]), m.Rules().SliceInside(x[7])}
		if m == numerics.M1 {
			inside = []fp16.Bits{0x7c00, 0x8001, 0xfc00}
		}
		requireHalves(t, inside, evaluateHalves(t, slice("[1, 1]"), [][]fp16.Bits{x}, soft.Numerics(m)), m.String())
		requireHalves(t, x[4:7], evaluateHalves(t, slice("[1, 0]"), [][]fp16.Bits{x}, soft.Numerics(m)), m.String())
	}
	update := "program(1.3)\n{ func main<ios18>(tensor<fp16, [2, 4]> x, tensor<fp16, [1, 3]> u) { tensor<fp16, [2, " +
		"4]> " +
		"y = slice_update(x = x, update = u, begin = tensor<int32, [2]>([0, 1]), end = tensor<int32, [2]>([1, 4]))" +
		"[name = string(\"y\")]; } -> (y); }"
	requireHalves(t, append([]fp16.Bits{x[0], x[5], x[5], x[7]}, x[4:]...), evaluateHalves(t, update, [][]fp16.Bits{x,
		{x[5], x[5], x[7]}}, soft.Numerics(numerics.M1)), "slice_update")
}

// A zero point of 0 leaves a convolution of int8 one of integers, which has no limit at 32768; another does not.
func TestZeroPointsOfInt8(t *testing.T) {
	const n = 8
	x, w := make([]fp16.Bits, n), make([]string, n)
	for i := range x {
		x[i], w[i] = fp16.FromFloat32(100), "100"
	}
	for zero, want := range map[int]fp16.Bits{0: fp16.FromFloat32(80000 / 2), 1: 0x7c00} {
		text := fmt.Sprintf(`program(1.3)
{
    func main<ios18>(tensor<fp16, [1, 8, 1, 1]> x) {
        tensor<int8, [1, 8, 1, 1]> q = quantize(input = x, scale = fp16(1), zero_point = int8(%[1]d),
            output_dtype = string("int8"));
        tensor<fp16, [1, 8, 1, 1]> d = dequantize(input = q, scale = fp16(0.5), zero_point = int8(%[1]d));
        tensor<fp16, [1, 8, 1, 1]> w = constexpr_blockwise_shift_scale(
            data = tensor<int8, [1, 8, 1, 1]>([100, 100, 100, 100, 100, 100, 100, 100]),
            scale = tensor<fp16, [1, 1, 1, 1]>([1]));
        tensor<fp16, [1, 1, 1, 1]> y = conv(x = d, weight = w)[name = string("y")];
    } -> (y);
}`, zero)
		requireHalves(t, []fp16.Bits{want}, evaluateHalves(t, text, [][]fp16.Bits{x}, soft.Numerics(numerics.M6)),
			fmt.Sprint(zero))
	}
}

// The greatest element of a row may be subnormal, or 98304, which has the bits of a NaN.
func TestSoftmaxTopOfChips(t *testing.T) {
	effort.SkipShort(t)
	const n = 4096 // exp is a table
	for _, top := range []fp16.Bits{0x0001, 0x03ff, 0x7e00, 0x7c00, 0xac00} {
		x := make([]fp16.Bits, n)
		for i := range x {
			x[i] = []fp16.Bits{0xbc00, 0xac00, 0xc000}[i%3]
		}
		x[5] = top
		if top >= 0x7c00 && top < 0x8000 {
			x[9] = top - 0x0200 // 65536 for 98304
		}
		text := fmt.Sprintf("program(1.3)\n{ func main<ios18>(tensor<fp16, [32, %[1]d]> x) { tensor<fp16, [32, "+
			"%[1]d]> y = "+
			"softmax(x = x, axis = int32(1))[name = string(\"y\")]; } -> (y); }", n/32)
		for _, m := range chipModes() {
			s := scalar{m, m.Rules()}
			var want []fp16.Bits
			for i := range 32 {
				want = append(want, s.softmax(x[i*n/32:][:n/32])...)
			}
			requireHalves(t, want, evaluateHalves(t, text, [][]fp16.Bits{x}, soft.Numerics(m)), fmt.Sprintf("%s %#04x",
				m,
				top))
		}
	}
}
