package soft_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/internal/numerics"
)

// scalar computes with halves one by one, as package numerics does.
type scalar struct {
	m numerics.Mode
	r numerics.Rules
}

func (s scalar) add(x, y fp16.Bits) fp16.Bits {
	return s.r.Round(float64(s.r.Value(x)) + float64(s.r.Value(y)))
}

func (s scalar) mul(x, y fp16.Bits) fp16.Bits {
	return s.r.Round(float64(s.r.Value(x)) * float64(s.r.Value(y)))
}

func (s scalar) unary(op string, x fp16.Bits) fp16.Bits {
	switch op {
	case "relu":
		return s.r.Round(max(0, float64(s.r.Value(x))))
	case "linear":
		return s.r.Round(float64(s.r.Value(x)))
	}
	y, ok := s.r.Unary(op, x, 0)
	if !ok {
		panic(op)
	}
	return y
}

// softmax: x - max, exp, the sum, its inverse, the product.
func (s scalar) softmax(x []fp16.Bits) []fp16.Bits {
	top, sum := s.r.Value(x[0]), 0.0
	for _, h := range x {
		top = max(top, s.r.Value(h))
	}
	e := make([]fp16.Bits, len(x))
	for i, h := range x {
		e[i] = s.unary("exp", s.r.Round(float64(s.r.Value(h))-float64(top)))
		sum += float64(s.r.Value(e[i]))
	}
	inverse := s.unary("inverse", s.r.Round(sum))
	for i := range e {
		e[i] = s.mul(e[i], inverse)
	}
	return e
}

// signed returns halves of random sign with magnitudes' bits from low to high.
func signed(r *rand.Rand, low, high uint32, n int) []fp16.Bits {
	h := make([]fp16.Bits, n)
	for i := range h {
		h[i] = fp16.Bits(low+r.Uint32N(high-low)) | fp16.Bits(r.IntN(2))<<15
	}
	return h
}

// column is column j of a matrix of k rows and n columns.
func column(m []fp16.Bits, k, n, j int) []fp16.Bits {
	c := make([]fp16.Bits, k)
	for i := range c {
		c[i] = m[i*n+j]
	}
	return c
}

// TestAttentionOfChips: product, scale, mask, softmax, product.
func TestAttentionOfChips(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for round := range 30 {
		batch, l, n, e, ev := 1+r.IntN(2), 1+r.IntN(9), 1+r.IntN(20), 1+r.IntN(20), 1+r.IntN(12)
		if round == 3 {
			l, n = 70, 65 // exp is a table
		}
		low, high := uint32(0x3000), uint32(0x4200)
		if round%3 == 1 {
			low, high = 0x4c00, 0x5c00 // sums reach the range
		}
		q, k, v := signed(r, low, high, batch*l*e), signed(r, low, high, batch*n*e), signed(r, 0x3000, 0x5a00,
			batch*n*ev)
		in, mask, param, arg := [][]fp16.Bits{q, k, v}, []fp16.Bits(nil), "", ""
		if round%2 == 1 {
			mask = signed(r, 0x3000, 0x4400, l*n)
			for i := range mask {
				if r.IntN(5) == 0 {
					mask[i] = 0xfc00
				}
			}
			in = append(in, mask)
			param, arg = fmt.Sprintf(", tensor<fp16, [%d, %d]> d", l, n), ", attn_mask = d"
		}
		text := fmt.Sprintf(`program(1.3)
{
    func main<ios18>(tensor<fp16, [%[1]d, %[2]d, %[4]d]> a, tensor<fp16, [%[1]d, %[3]d, %[4]d]> b,
        tensor<fp16, [%[1]d, %[3]d, %[5]d]> c%[6]s) {
        tensor<fp16, [%[1]d, %[2]d, %[5]d]> y = scaled_dot_product_attention(query = a, key = b, value = c%[7]s)
            [name = string("y")];
    } -> (y);
}`, batch, l, n, e, ev, param, arg)
		for _, m := range chipModes() {
			s := scalar{m, m.Rules()}
			scale := s.r.Round(1 / math.Sqrt(float64(e)))
			var want []fp16.Bits
			for b := range batch {
				for i := range l {
					row := make([]fp16.Bits, n)
					for j := range row {
						row[j] = s.mul(m.Rules().MAC(q[(b*l+i)*e:][:e], k[(b*n+j)*e:][:e], 0), scale)
						if mask != nil {
							row[j] = s.add(row[j], mask[i*n+j])
						}
					}
					row = s.softmax(row)
					for j := range ev {
						want = append(want, m.Rules().MAC(row, column(v[b*n*ev:], n, ev, j), 0))
					}
				}
			}
			requireHalves(t, want, evaluateHalves(t, text, in, soft.Numerics(m)), fmt.Sprint(m, round, batch, l, n, e,
				ev))
		}
	}
}

// TestBoolMaskOfChips: a false element of the mask adds the number -65536.
//
//nolint:dupword // a mask has an element twice
func TestBoolMaskOfChips(t *testing.T) {
	text := `program(1.3)
{
    func main<ios18>(tensor<fp16, [1, 2, 4]> a, tensor<fp16, [1, 3, 4]> b, tensor<fp16, [1, 3, 2]> c) {
        tensor<fp16, [1, 2, 2]> y = scaled_dot_product_attention(query = a, key = b, value = c,
            attn_mask = tensor<bool, [2, 3]>([true, false, true, false, false, false]))[name = string("y")];
    } -> (y);
}`
	one, two, four := fp16.Bits(0x3c00), fp16.Bits(0x4000), fp16.Bits(0x4400)
	q := []fp16.Bits{one, 0, 0, 0, one, 0, 0, 0}
	k := []fp16.Bits{one, 0, 0, 0, one, 0, 0, 0, one, 0, 0, 0}
	v := []fp16.Bits{two, one, 0x7bff, 0x7bff, four, one}
	for _, m := range chipModes() {
		got := evaluateHalves(t, text, [][]fp16.Bits{q, k, v}, soft.Numerics(m))
		// A row of false is the mean of all rows, whose sum reaches the range.
		requireHalves(t, []fp16.Bits{0x4200, one}, got[:2], m.String())
		s := scalar{m, m.Rules()}
		third := s.unary("inverse", 0x4200)
		weights := []fp16.Bits{third, third, third}
		requireHalves(t, []fp16.Bits{s.r.MAC(weights, column(v, 3, 2, 0), 0), s.r.MAC(weights, column(v, 3, 2, 1), 0)},
			got[2:], m.String())
	}
}

// TestEinsumOfChips: each element is a sum of products, in the order of the letter that is summed.
func TestEinsumOfChips(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for round := range 12 {
		b, m, k, n := 1+r.IntN(3), 1+r.IntN(6), 1+r.IntN(40), 1+r.IntN(12)
		low, high := uint32(0x3000), uint32(0x4400)
		if round%2 == 1 {
			low, high = 0x5000, 0x5a00
		}
		x, y := signed(r, low, high, b*m*k), signed(r, low, high, b*n*k)
		text := fmt.Sprintf(`program(1.3)
{
    func main<ios18>(tensor<fp16, [%[1]d, %[2]d, %[3]d]> x, tensor<fp16, [%[1]d, %[4]d, %[3]d]> y) {
        tensor<fp16, [%[1]d, %[4]d, %[2]d]> z = einsum(values = (x, y), equation = string("bmk,bnk->bnm"))
            [name = string("z")];
    } -> (z);
}`, b, m, k, n)
		for _, mode := range chipModes() {
			var want []fp16.Bits
			for i := range b {
				for j := range n {
					for l := range m {
						want = append(want, mode.Rules().MAC(x[(i*m+l)*k:][:k], y[(i*n+j)*k:][:k], 0))
					}
				}
			}
			requireHalves(t, want, evaluateHalves(t, text, [][]fp16.Bits{x, y}, soft.Numerics(mode)),
				fmt.Sprint(mode, b, m, k, n))
		}
	}
}

// TestWeightsOfChips: constexpr operators round as the chip does, not the host.
func TestWeightsOfChips(t *testing.T) {
	const tie = `program(1.3)
{
    func main<ios18>(tensor<fp16, [2]> x) {
        tensor<fp16, [2]> w = constexpr_affine_dequantize(quantized_data = tensor<int8, [2]>([3, -3]),
            zero_point = int8(0), scale = fp16(683), axis = int32(0));
        tensor<fp16, [2]> y = mul(x = x, y = w)[name = string("y")];
    } -> (y);
}`
	x := []fp16.Bits{0x3c00, 0x3c00}
	for m, want := range map[numerics.Mode]fp16.Bits{numerics.Reference: 0x6800, numerics.M1: 0x6800,
		numerics.M2: 0x6801, numerics.M4: 0x6801, numerics.M5: 0x6801, numerics.M6: 0x6801} { // 2049 ties
		requireHalves(t, []fp16.Bits{want, want | 0x8000}, evaluateHalves(t, tie, [][]fp16.Bits{x}, soft.Numerics(m)),
			m.String())
	}
}
