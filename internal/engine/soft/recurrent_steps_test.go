package soft_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft"
)

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
	fromX := func(row int) fp16.Bits { return c.r.MAC(x, c.ih[row*c.i:][:c.i], vectorAt(withX, row)) }
	fromH := func(row int, h []fp16.Bits) fp16.Bits { return c.r.MAC(h, c.hh[row*c.h:][:c.h], vectorAt(withH, row)) }
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
		for _, m := range chipModes() {
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
