package soft_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/numerics"
	"github.com/anekit/anekit/internal/engine/soft"
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
		for _, m := range chipModes {
			s := scalar{m, m.Rules()}
			scale := s.r.Round(1 / math.Sqrt(float64(e)))
			var want []fp16.Bits
			for b := range batch {
				for i := range l {
					row := make([]fp16.Bits, n)
					for j := range row {
						row[j] = s.mul(m.MAC(q[(b*l+i)*e:][:e], k[(b*n+j)*e:][:e], 0), scale)
						if mask != nil {
							row[j] = s.add(row[j], mask[i*n+j])
						}
					}
					row = s.softmax(row)
					for j := range ev {
						want = append(want, m.MAC(row, column(v[b*n*ev:], n, ev, j), 0))
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
	for _, m := range chipModes {
		got := evaluateHalves(t, text, [][]fp16.Bits{q, k, v}, soft.Numerics(m))
		// A row of false is the mean of all rows, whose sum reaches the range.
		requireHalves(t, []fp16.Bits{0x4200, one}, got[:2], m.String())
		s := scalar{m, m.Rules()}
		third := s.unary("inverse", 0x4200)
		weights := []fp16.Bits{third, third, third}
		requireHalves(t, []fp16.Bits{m.MAC(weights, column(v, 3, 2, 0), 0), m.MAC(weights, column(v, 3, 2, 1), 0)},
			got[2:], m.String())
	}
}

// cell is one cell of a recurrent operator, with weights of gates*h rows.
type cell struct {
	scalar
	op                            string
	i, h                          int
	ih, hh, bias, other, peephole []fp16.Bits // other is input_bias of gru
	after                         bool
	gate, inner, final            string
}

func vectorAt(v []fp16.Bits, i int) fp16.Bits {
	if v == nil {
		return 0
	}
	return v[i]
}

// next computes a step from the definition in recurrent_steps.go, one gate at a time.
func (c *cell) next(x, h, memory []fp16.Bits) (newH, newMemory []fp16.Bits) {
	withX, withH := c.bias, c.other
	if c.op == "gru" {
		withX, withH = c.other, c.bias
	}
	fromX := func(row int) fp16.Bits { return c.m.MAC(x, c.ih[row*c.i:][:c.i], vectorAt(withX, row)) }
	fromH := func(row int, h []fp16.Bits) fp16.Bits { return c.m.MAC(h, c.hh[row*c.h:][:c.h], vectorAt(withH, row)) }
	pre := func(gate, j int) fp16.Bits { return c.add(fromX(gate*c.h+j), fromH(gate*c.h+j, h)) }
	kept := make([]fp16.Bits, c.h)
	for j := range kept {
		if c.op == "gru" && !c.after {
			kept[j] = c.mul(c.unary(c.gate, pre(0, j)), h[j])
		}
	}
	for j := range c.h {
		switch c.op {
		case "rnn":
			newH = append(newH, c.unary(c.final, pre(0, j)))
		case "lstm":
			seen := func(p, value fp16.Bits, part int) fp16.Bits {
				return c.add(p, c.mul(value, vectorAt(c.peephole, part*c.h+j)))
			}
			in := c.unary(c.gate, seen(pre(0, j), memory[j], 0))
			forget := c.unary(c.gate, seen(pre(1, j), memory[j], 1))
			now := c.add(c.mul(forget, memory[j]), c.mul(in, c.unary(c.inner, pre(3, j))))
			newMemory = append(newMemory, now)
			newH = append(newH, c.mul(c.unary(c.gate, seen(pre(2, j), now, 2)), c.unary(c.final, now)))
		case "gru":
			row := c.h + j
			var inner fp16.Bits
			if c.after {
				inner = c.add(fromX(row), c.mul(c.unary(c.gate, pre(0, j)), fromH(row, h)))
			} else {
				inner = c.add(fromX(row), fromH(row, kept))
			}
			z := c.unary(c.gate, pre(2, j))
			left := c.r.Round(1 - float64(c.r.Value(z)))
			newH = append(newH, c.add(c.mul(left, c.unary(c.final, inner)), c.mul(z, h[j])))
		}
	}
	return newH, newMemory
}

// TestRecurrentOfChips: products with their biases, tables, states rounded after each step.
func TestRecurrentOfChips(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for round := range 24 {
		op := []string{"rnn", "gru", "lstm"}[round%3]
		gates := map[string]int{"rnn": 1, "gru": 3, "lstm": 4}[op]
		steps, batch, in, n := 1+r.IntN(4), 1+r.IntN(5), 1+r.IntN(12), 1+r.IntN(12)
		c := cell{op: op, i: in, h: n, gate: "sigmoid", inner: "tanh", final: "tanh", after: round%2 == 0}
		if round%4 == 3 {
			c.final = "relu"
		}
		high := uint32(0x3c00)
		if round%5 == 4 {
			high = 0x5b00
		}
		reverse, sequence, length := round%4 > 1, round%5 != 1, steps
		if !sequence {
			length = 1
		}
		x, h := signed(r, 0x3000, high, steps*batch*in), signed(r, 0x3000, 0x3c00, batch*n)
		c.ih, c.hh = signed(r, 0x3000, high, gates*n*in), signed(r, 0x3000, 0x3c00, gates*n*n)
		c.bias = signed(r, 0x3000, 0x3c00, gates*n)
		memory := signed(r, 0x3000, 0x3c00, batch*n)
		params, args := "", ""
		data := [][]fp16.Bits{x, h}
		switch op {
		case "lstm":
			c.peephole = signed(r, 0x3000, 0x3c00, 3*n)
			data = append(data, memory)
			params = fmt.Sprintf(", tensor<fp16, [%d, %d]> c", batch, n)
			args = ", initial_c = c, peephole = " + halvesOf(fmt.Sprintf("[%d]", 3*n), c.peephole)
		case "gru":
			c.other = signed(r, 0x3000, 0x3c00, gates*n)
			args = fmt.Sprintf(", reset_after = bool(%t), input_bias = %s", c.after,
				halvesOf(fmt.Sprintf("[%d]", gates*n), c.other))
		}
		if reverse {
			args += ", direction = string(\"reverse\")"
		}
		more := fmt.Sprintf(", tensor<fp16, [%d, %d]> z", batch, n)
		if op == "lstm" {
			more += fmt.Sprintf(", tensor<fp16, [%d, %d]> w", batch, n)
		}
		text := fmt.Sprintf(`program(1.3)
{
    func main<ios18>(tensor<fp16, [%[1]d, %[2]d, %[3]d]> a, tensor<fp16, [%[2]d, %[4]d]> b%[5]s) {
        tensor<fp16, [%[13]d, %[2]d, %[4]d]> y%[6]s = %[7]s(x = a, initial_h = b, weight_ih = %[8]s, weight_hh = %[9]s,
            bias = %[10]s, activation = string("%[11]s"), output_sequence = bool(%[14]t)%[12]s)[name = string("y")];
    } -> (y);
}`, steps, batch, in, n, params, more, op, halvesOf(fmt.Sprintf("[%d, %d]", gates*n, in), c.ih),
			halvesOf(fmt.Sprintf("[%d, %d]", gates*n, n), c.hh), halvesOf(fmt.Sprintf("[%d]", gates*n), c.bias),
			c.final,
			args, length, sequence)
		for _, m := range chipModes {
			c.scalar = scalar{m, m.Rules()}
			want := make([]fp16.Bits, length*batch*n)
			for b := range batch {
				state, kept := h[b*n:][:n], memory[b*n:][:n]
				for k := range steps {
					from := k
					if reverse {
						from = steps - 1 - k
					}
					state, kept = c.next(x[(from*batch+b)*in:][:in], state, kept)
					copy(want[(k%length*batch+b)*n:], state) // of one alone the last
				}
			}
			requireHalves(t, want, evaluateHalves(t, text, data, soft.Numerics(m)), fmt.Sprint(m, " ", round, " ", op))
		}
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
		for _, mode := range chipModes {
			var want []fp16.Bits
			for i := range b {
				for j := range n {
					for l := range m {
						want = append(want, mode.MAC(x[(i*m+l)*k:][:k], y[(i*n+j)*k:][:k], 0))
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
		numerics.M4: 0x6801, numerics.M5: 0x6801, numerics.M6: 0x6801} { // 2049 is between 2048 and 2050
		requireHalves(t, []fp16.Bits{want, want | 0x8000}, evaluateHalves(t, tie, [][]fp16.Bits{x}, soft.Numerics(m)),
			m.String())
	}
}

// TestSoftmaxOfChips: lanes of runs with a table of exp, which are computed step by step, and lanes side by side.
func TestSoftmaxOfChips(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	for _, c := range []struct{ rows, n int }{{3, 5}, {70, 65}, {2, 3000}, {9, 1024}} {
		for _, last := range []bool{true, false} {
			shape, axis := fmt.Sprintf("tensor<fp16, [%d, %d]>", c.rows, c.n), 1
			if !last {
				shape, axis = fmt.Sprintf("tensor<fp16, [%d, %d]>", c.n, c.rows), 0
			}
			x := signed(r, 0x2c00, 0x4800, c.rows*c.n)
			x[0], x[len(x)-1] = 0x7c00, 0xfc01
			text := "program(1.3)\n{ func main<ios18>(" + shape + " x) { " + shape + fmt.Sprintf(" y = softmax(x = x, "+
				"axis = int32(%d))[name = string(\"y\")]; } -> (y); }", axis)
			for _, m := range chipModes {
				s, want := scalar{m, m.Rules()}, make([]fp16.Bits, len(x))
				for i := range c.rows {
					if last {
						copy(want[i*c.n:], s.softmax(x[i*c.n:][:c.n]))
						continue
					}
					for j, h := range s.softmax(column(x, c.n, c.rows, i)) {
						want[j*c.rows+i] = h
					}
				}
				requireHalves(t, want, evaluateHalves(t, text, [][]fp16.Bits{x}, soft.Numerics(m)),
					fmt.Sprint(m, c, last))
			}
		}
	}
}

// norm: the mean, x less it, the mean of the squares, rsqrt, the product, times gamma, plus beta.
func (s scalar) norm(x, gamma, beta []fp16.Bits) []fp16.Bits {
	sum, squares, out := 0.0, 0.0, make([]fp16.Bits, len(x))
	for _, h := range x {
		sum += float64(s.r.Value(h))
	}
	mean := float64(s.r.Value(s.r.Round(sum / float64(len(x)))))
	for i, h := range x {
		out[i] = s.r.Round(float64(s.r.Value(h)) - mean)
		squares += float64(s.r.Value(out[i])) * float64(s.r.Value(out[i]))
	}
	scale, _ := s.r.Unary("rsqrt", s.r.Round(squares/float64(len(x))), 0x1p-10)
	for i := range out {
		out[i] = s.add(s.mul(s.mul(out[i], scale), gamma[i]), beta[i])
	}
	return out
}

// TestNormsOfChips: lanes of runs, and layer_norm of lanes side by side.
func TestNormsOfChips(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	for _, n := range []int{1, 2, 7, 33, 1025, 2500} {
		x, gamma, beta := signed(r, 0x2c00, 0x4800, 3*n), signed(r, 0x3400, 0x4000, n), signed(r, 0x3000, 0x4000, n)
		list := func(h []fp16.Bits) string { return halvesOf(fmt.Sprintf("[%d]", len(h)), h) }
		layer := fmt.Sprintf("program(1.3)\n{ func main<ios18>(tensor<fp16, [3, %[1]d]> x) { tensor<fp16, [3, "+
			"%[1]d]> y = "+
			"layer_norm(x = x, axes = tensor<int32, [1]>([1]), gamma = %[2]s, beta = %[3]s, epsilon = fp16(0x1p-10))"+
			"[name = string(\"y\")]; } -> (y); }", n, list(gamma), list(beta))
		side := fmt.Sprintf("program(1.3)\n{ func main<ios18>(tensor<fp16, [%[1]d, 3]> x) { tensor<fp16, [%[1]d, 3]> "+
			"y = "+
			"layer_norm(x = x, axes = tensor<int32, [1]>([0]), gamma = %[2]s, beta = %[3]s, epsilon = fp16(0x1p-10))"+
			"[name = string(\"y\")]; } -> (y); }", n, list(gamma), list(beta))
		three, other := signed(r, 0x3400, 0x4000, 3), signed(r, 0x3400, 0x4000, 3)
		instance := fmt.Sprintf("program(1.3)\n{ func main<ios18>(tensor<fp16, [1, 3, %[1]d]> x) { "+
			"tensor<fp16, [1, 3, %[1]d]> y = instance_norm(x = x, gamma = %[2]s, beta = %[3]s, epsilon = fp16(0x1p-10))"+
			"[name = string(\"y\")]; } -> (y); }", n, list(three), list(other))
		for _, m := range chipModes {
			s := scalar{m, m.Rules()}
			var want, channels []fp16.Bits
			turned, sides := make([]fp16.Bits, 3*n), make([]fp16.Bits, 3*n)
			for i := range 3 {
				row, g, b := x[i*n:][:n], make([]fp16.Bits, n), make([]fp16.Bits, n)
				for j := range row {
					g[j], b[j], turned[j*3+i] = three[i], other[i], row[j]
				}
				want, channels = append(want, s.norm(row, gamma, beta)...), append(channels, s.norm(row, g, b)...)
				for j, h := range want[i*n:] {
					sides[j*3+i] = h
				}
			}
			what := fmt.Sprint(m, n)
			requireHalves(t, want, evaluateHalves(t, layer, [][]fp16.Bits{x}, soft.Numerics(m)), "layer_norm "+what)
			requireHalves(t, sides, evaluateHalves(t, side, [][]fp16.Bits{turned}, soft.Numerics(m)), "aside "+what)
			requireHalves(t, channels, evaluateHalves(t, instance, [][]fp16.Bits{x}, soft.Numerics(m)),
				"instance_norm "+what)
		}
	}
}

// TestNormsAsideOfChips: lanes side by side of any halves, along one axis and along two with another one between them.
func TestNormsAsideOfChips(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	for _, c := range []struct{ a, k, b, w int }{{1, 1, 8, 70}, {1, 1, 33, 32}, {1, 1, 1500, 33}, {3, 2, 5, 40},
		{40, 3, 30, 2}, {1, 1, 7, 9}} {
		n := c.a * c.b
		for _, high := range []uint32{0x8000, 0x4800, 0x0800} {
			x := signed(r, 0, high, n*c.k*c.w)
			gamma, beta := signed(r, 0, min(high, 0x7c00), n), signed(r, 0x2c00, 0x5000, n)
			ones, zeros := slices.Repeat([]fp16.Bits{0x3c00}, n), make([]fp16.Bits, n)
			for _, p := range []struct {
				text        string
				gamma, beta []fp16.Bits
			}{{"", ones, zeros}, {", gamma = G", gamma, zeros}, {", beta = B", ones, beta},
				{", gamma = G, beta = B", gamma, beta}} {
				shape, small := fmt.Sprintf("[%d, %d, %d, %d]", c.a, c.k, c.b, c.w), fmt.Sprintf("[%d, %d]", c.a, c.b)
				text := strings.NewReplacer("G", halvesOf(small, gamma), "B", halvesOf(small, beta)).Replace(p.text)
				text = fmt.Sprintf("program(1.3)\n{ func main<ios18>(tensor<fp16, %[1]s> x) { tensor<fp16, %[1]s> y = "+
					"layer_norm(x = x, axes = tensor<int32, [2]>([0, 2]), epsilon = fp16(0x1p-10)%[2]s)"+
					"[name = string(\"y\")]; } -> (y); }", shape, text)
				for _, m := range chipModes {
					want := make([]fp16.Bits, len(x))
					at := func(lane, j int) int {
						return ((j/c.b*c.k+lane/c.w)*c.b+j%c.b)*c.w + lane%c.w
					}
					for lane := range c.k * c.w {
						row := make([]fp16.Bits, n)
						for j := range row {
							row[j] = x[at(lane, j)]
						}
						for j, h := range (scalar{m, m.Rules()}).norm(row, p.gamma, p.beta) {
							want[at(lane, j)] = h
						}
					}
					requireHalves(t, want, evaluateHalves(t, text, [][]fp16.Bits{x}, soft.Numerics(m)),
						fmt.Sprint(m, c, high, p.text))
				}
			}
		}
	}
}

// TestReductionsOfChips: exact sums, rounded half away also on the M1 (ReduceAway).
func TestReductionsOfChips(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 20))
	value := func(f float64) float64 { return f }
	for op, f := range map[string]func(x []float64) float64{
		"reduce_sum":        func(x []float64) float64 { return total(x, value) },
		"reduce_mean":       func(x []float64) float64 { return total(x, value) / float64(len(x)) },
		"reduce_l1_norm":    func(x []float64) float64 { return total(x, math.Abs) },
		"reduce_sum_square": func(x []float64) float64 { return total(x, func(f float64) float64 { return f * f }) },
		"reduce_l2_norm": func(x []float64) float64 {
			return math.Sqrt(total(x, func(f float64) float64 { return f * f }))
		},
		"reduce_max": slices.Max[[]float64],
		"reduce_min": slices.Min[[]float64],
	} {
		for _, n := range []int{1, 2, 5, 1027} {
			x := signed(r, 0x2c00, 0x4400, 3*n)
			x[0] = 0x7c00
			for i := range 2 * n {
				x[i] &^= 0x8000
			}
			text := fmt.Sprintf("program(1.3)\n{ func main<ios18>(tensor<fp16, [3, %d]> x) { tensor<fp16, [3]> y = %s("+
				"x = x, axes = tensor<int32, [1]>([1]), keep_dims = bool(false))[name = string(\"y\")]; } -> (y); }", n, op)
			for _, m := range chipModes {
				var want []fp16.Bits
				for i := range 3 {
					var row []float64
					for _, h := range x[i*n:][:n] {
						row = append(row, float64(numerics.Number(h)))
					}
					want = append(want, (m.Rules() | numerics.HalfAway).Round(f(row)))
				}
				requireHalves(t, want, evaluateHalves(t, text, [][]fp16.Bits{x}, soft.Numerics(m)),
					fmt.Sprint(op, m, n))
			}
		}
	}
}

func total(x []float64, f func(float64) float64) (sum float64) {
	for _, v := range x {
		sum += f(v)
	}
	return sum
}
