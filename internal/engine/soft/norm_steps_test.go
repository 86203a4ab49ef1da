package soft_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/internal/numerics"
)

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
			for _, m := range chipModes() {
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
		for _, m := range chipModes() {
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
	effort.SkipShort(t)
	r := rand.New(rand.NewPCG(41, 42))
	for i, c := range []struct{ a, k, b, w int }{{1, 1, 8, 70}, {1, 1, 33, 32}, {1, 1, 1500, 33}, {3, 2, 5, 40},
		{40, 3, 30, 2}, {1, 1, 7, 9}} {
		if i%2 == 0 && !effort.Full() {
			continue
		}
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
				for _, m := range chipModes() {
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
			for _, m := range chipModes() {
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
