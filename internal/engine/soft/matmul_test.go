package soft_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/internal/numerics"
)

// sums are the exact results of products and the terms of their error bound:
// the sum of magnitudes and the number of terms.
type sums struct {
	want  nd
	mass  []float64 // sum of the magnitudes of all terms
	terms int
}

// bound allows one unit in the last place for rounding the result (half of it
// for a tie decided the other way) plus the error of a float32 sum in any
// order: (terms+1) * 2^-24 of the sum of magnitudes.
func (s sums) bound(_, i int, want float64) float64 {
	return ulp(s.want.d, want) + float64(s.terms+1)*0x1p-24*s.mass[i]
}

// swapped returns shape with its last two axes exchanged.
func swapped(shape []int) []int {
	s := slices.Clone(shape)
	n := len(s)
	s[n-1], s[n-2] = s[n-2], s[n-1]
	return s
}

// turned indexes a matrix in the last two axes, transposed or not. Its batch
// axes broadcast to those of i.
func (a nd) turned(i []int, row, col int, transposed bool) float64 {
	rank := len(a.shape)
	j := slices.Clone(i[len(i)-2-(rank-2) : len(i)-2])
	for k := range j {
		if a.shape[k] == 1 {
			j[k] = 0
		}
	}
	if transposed {
		row, col = col, row
	}
	return a.at(append(j, row, col)...)
}

func matmulCase(r *rand.Rand, d mil.DType, batchX, batchY, batch []int, m, k, n int) (operation, sums) {
	tx, ty := r.IntN(2) == 0, r.IntN(2) == 0
	xs, ys := append(slices.Clone(batchX), m, k), append(slices.Clone(batchY), k, n)
	if tx {
		xs = swapped(xs)
	}
	if ty {
		ys = swapped(ys)
	}
	x, y := fill(r, d, xs...), fill(r, d, ys...)
	s := sums{want: zeros(d, append(slices.Clone(batch), m, n)...), terms: k}
	s.mass = make([]float64, len(s.want.v))
	each(s.want.shape, func(i []int) {
		at := s.want.index(i)
		for c := range k {
			p := x.turned(i, i[len(i)-2], c, tx) * y.turned(i, c, i[len(i)-1], ty)
			s.want.v[at] += p
			s.mass[at] += math.Abs(p)
		}
	})
	o := operation{op: "matmul", in: []operand{{"x", x, r.IntN(4) == 0}, {"y", y, r.IntN(4) == 0}}, want: []nd{s.want}}
	if tx || r.IntN(2) == 0 {
		o.settings += fmt.Sprintf(", transpose_x = bool(%t)", tx)
	}
	if ty || r.IntN(2) == 0 {
		o.settings += fmt.Sprintf(", transpose_y = bool(%t)", ty)
	}
	return o, s
}

func TestMatmul(t *testing.T) {
	effort.SkipShort(t)
	batches := [][3][]int{ // x, y, result
		{{}, {}, {}}, {{2}, {}, {2}}, {{}, {3}, {3}}, {{2}, {2}, {2}}, {{1}, {4}, {4}}, {{4}, {1}, {4}},
		{{2, 3}, {2, 3}, {2, 3}}, {{2, 1}, {1, 3}, {2, 3}}, {{1, 3}, {2, 1}, {2, 3}}, {{2, 3}, {3}, {2, 3}}, {{1, 1},
			{2, 2}, {2, 2}},
		{{2, 1}, {3}, {2, 3}},
	}
	for _, d := range []mil.DType{mil.FP16, mil.FP32} {
		t.Run(d.String(), func(t *testing.T) {
			r := seeded(t)
			for range effort.Cases(12) {
				for _, b := range batches {
					dim := func() int { return axisLengths[r.IntN(len(axisLengths))] }
					o, s := matmulCase(r, d, b[0], b[1], b[2], dim(), dim(), dim())
					o.near(t, s.bound)
				}
			}
		})
	}
}

// TestMatmulTiles crosses tile borders in every direction.
func TestMatmulTiles(t *testing.T) {
	r := seeded(t)
	for _, s := range [][3]int{{33, 5, 257}, {32, 64, 256}, {1, 1000, 300}, {65, 3, 1}, {1, 1, 513}, {31, 17, 255},
		{2, 70000, 3}} {
		o, sum := matmulCase(r, mil.FP16, nil, nil, nil, s[0], s[1], s[2])
		for i := range o.in {
			o.in[i].fixed = false // large literals only slow the test down
		}
		o.near(t, sum.bound)
	}
}

func TestMatmulEdges(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		x, y []float64
		want float64
	}{
		{[]float64{65504, 65504}, []float64{1, -1}, 0},
		{[]float64{65504, 1}, []float64{65504, 1}, inf},
		{[]float64{inf, 1}, []float64{0, 1}, nan},
		{[]float64{0x1p-24}, []float64{1}, 0x1p-24},
		{[]float64{0x1p-12, 0x1p-14}, []float64{0x1p-12, 0x1p-12}, 0x1p-24}, // 2^-24 + 2^-26
		{[]float64{256, 256, -256}, []float64{256, 256, 256}, inf},          // 65536 exceeds fp16
		{[]float64{2048, 1}, []float64{1, 1}, 2048},
		{[]float64{2048, 1, 1}, []float64{1, 1, 1}, 2050}, // the sum is not rounded to fp16
	} {
		n := len(c.x)
		operation{op: "matmul", in: []operand{{"x", nd{mil.FP16, []int{1, n}, c.x}, false},
			{"y", nd{mil.FP16, []int{n, 1}, c.y}, false}},
			want: []nd{{mil.FP16, []int{1, 1}, []float64{c.want}}}}.exact(t)
	}
}

func TestLinear(t *testing.T) {
	for _, d := range []mil.DType{mil.FP16, mil.FP32} {
		r := seeded(t)
		for k := range effort.Cases(40) {
			x := fill(r, d, randomShape(r, 1, 5)...)
			in, out := x.shape[len(x.shape)-1], axisLengths[r.IntN(len(axisLengths))]
			w, b := fill(r, d, out, in), fill(r, d, out)
			shape := append(slices.Clone(x.shape[:len(x.shape)-1]), out)
			s := sums{want: zeros(d, shape...), terms: in + 1}
			s.mass = make([]float64, len(s.want.v))
			each(shape, func(i []int) {
				at, o := s.want.index(i), i[len(i)-1]
				j := slices.Clone(i)
				for c := range in {
					j[len(j)-1] = c
					p := x.at(j...) * w.at(o, c)
					s.want.v[at] += p
					s.mass[at] += math.Abs(p)
				}
				if k%2 == 0 {
					s.want.v[at] += b.v[o]
					s.mass[at] += math.Abs(b.v[o])
				}
			})
			o := operation{op: "linear", in: []operand{{"x", x, k%7 == 0}, {"weight", w, k%3 != 0}}, want: []nd{s.want}}
			if k%2 == 0 {
				o.in = append(o.in, operand{"bias", b, k%4 == 0})
			}
			o.near(t, s.bound)
		}
	}
}

// Vectors are one row of x or one column of y, transposed or not; the result has no
// axis for them.
func TestMatmulVectors(t *testing.T) {
	for _, d := range []mil.DType{mil.FP16, mil.FP32, mil.Int32} {
		r := seeded(t)
		for k := range effort.Cases(40) {
			inner := axisLengths[r.IntN(len(axisLengths))]
			x, y := []int{inner}, []int{inner}
			if k%3 == 1 {
				x = append(randomShape(r, 1, 3), inner)
			} else if k%3 == 2 {
				y = append(randomShape(r, 0, 2), inner, 1+r.IntN(40))
			}
			a, b := fill(r, d, x...), fill(r, d, y...)
			shape := slices.Clone(x[:len(x)-1])
			if len(y) > 1 {
				shape = append(slices.Clone(y[:len(y)-2]), y[len(y)-1])
			}
			s := sums{want: zeros(d, shape...), terms: inner}
			s.mass = make([]float64, len(s.want.v))
			each(shape, func(i []int) {
				at := s.want.index(i)
				var wrap int32
				for c := range inner {
					p, q := append(slices.Clone(i), c), []int{c}
					if len(y) > 1 {
						p, q = []int{c}, append(append(slices.Clone(i[:len(i)-1]), c), i[len(i)-1])
					}
					product := a.at(p...) * b.at(q...)
					s.want.v[at] += product
					s.mass[at] += math.Abs(product)
					wrap += int32(a.at(p...)) * int32(b.at(q...))
				}
				if d == mil.Int32 {
					s.want.v[at] = float64(wrap)
				}
			})
			o := operation{op: "matmul", in: []operand{{"x", a, k%4 == 0}, {"y", b, k%4 == 1}}, want: []nd{s.want}}
			if len(x) == 1 && k%2 == 0 {
				o.settings = ", transpose_x = bool(true)"
			}
			if len(y) == 1 && k%4 == 0 {
				o.settings += ", transpose_y = bool(true)"
			}
			if d == mil.Int32 {
				o.exact(t)
			} else {
				o.near(t, s.bound)
			}
		}
	}
}

// digits returns whole numbers from -2 to 2, whose products and sums are exact.
func digits(shape ...int) nd {
	x := zeros(mil.FP16, shape...)
	for i := range x.v {
		x.v[i] = float64(i*7%11*i%5 - 2)
	}
	return x
}

// wholeProduct multiplies batches of matrices of digits, the second perhaps transposed.
func wholeProduct(x, y nd, m, k, n int, transposed bool) nd {
	batch := len(x.v) / (m * k)
	want := zeros(mil.FP16, batch, m, n)
	for i := range want.v {
		b, row, col := i/n/m, i/n%m, i%n
		for d := range k {
			at := (b*k+d)*n + col
			if transposed {
				at = (b*n+col)*k + d
			}
			want.v[i] += x.v[(b*m+row)*k+d] * y.v[at]
		}
	}
	return want
}

// TestVectorsInPieces multiplies one row, and a few, by matrices of several pieces, and adds the bias of each piece.
func TestVectorsInPieces(t *testing.T) {
	const k = 64
	for _, c := range []struct {
		m, n       int
		transposed bool
	}{{1, 2100, false}, {3, 1500, false}, {9, 600, false}, {1, 100, true}, {1, 64, true}} {
		shape := []int{2, k, c.n}
		if c.transposed {
			shape = []int{2, c.n, k}
		}
		x, y := digits(2, c.m, k), digits(shape...)
		operation{op: "matmul", in: []operand{{"x", x, false}, {"y", y, false}}, want: []nd{wholeProduct(x, y, c.m, k, c.n,
			c.transposed)}, settings: fmt.Sprintf(", transpose_y = bool(%t)", c.transposed)}.exact(t)
	}
	x, w, bias := digits(1, k), digits(100, k), digits(100)
	want := wholeProduct(x, w, 1, k, 100, true)
	want.shape = []int{1, 100}
	for i := range want.v {
		want.v[i] += bias.v[i]
	}
	operation{op: "linear", in: []operand{{"x", x, false}, {"weight", w, false}, {"bias", bias, true}},
		want: []nd{want}}.exact(t)
}

// bitsOfAll are the halves of a tensor.
func bitsOfAll(x nd) (all []fp16.Bits) {
	for _, f := range x.v {
		all = append(all, fp16.FromFloat64(f))
	}
	return all
}

// TestManyColumnsOfChips adds the bias to columns of several tiles.
func TestManyColumnsOfChips(t *testing.T) {
	const m, k, n = 20, 5, 600
	x, w, bias := digits(m, k), digits(n, k), digits(n)
	want := wholeProduct(x, w, m, k, n, true)
	for i := range want.v {
		want.v[i] += bias.v[i%n]
	}
	text := fmt.Sprintf("program(1.3)\n{ func main<ios18>(tensor<fp16, [%d, %d]> x) { tensor<fp16, [%d, %d]> y = "+
		"linear(x = x, weight = %s, bias = %s); } -> (y); }", m, k, m, n, w.literal(), bias.literal())
	requireHalves(t, bitsOfAll(want), evaluateHalves(t, text, [][]fp16.Bits{bitsOfAll(x)}, soft.Numerics(numerics.M1)), "")
}

// TestFewColumnsOfChips multiplies by a few columns, whose sums a chip has in another order, with tiles of many rows.
func TestFewColumnsOfChips(t *testing.T) {
	const m, n = 300, 3
	for _, k := range []int{5, 200} {
		x, y := digits(2, m, k), digits(2, k, n)
		text := fmt.Sprintf("program(1.3)\n{ func main<ios18>(tensor<fp16, [2, %[1]d, %[2]d]> x, tensor<fp16, "+
			"[2, %[2]d, %[3]d]> z) { tensor<fp16, [2, %[1]d, %[3]d]> y = matmul(x = x, y = z); } -> (y); }", m, k, n)
		requireHalves(t, bitsOfAll(wholeProduct(x, y, m, k, n, false)), evaluateHalves(t, text, [][]fp16.Bits{bitsOfAll(x),
			bitsOfAll(y)}, soft.Numerics(numerics.M1)), fmt.Sprint(k))
	}
}

// Products of int32 wrap around.
func TestIntProducts(t *testing.T) {
	r := seeded(t)
	for k := range effort.Cases(60) {
		batch := [][3][]int{{{}, {}, {}}, {{2}, {}, {2}}, {{2, 1}, {3}, {2, 3}}, {{2, 1, 2}, {3, 1}, {2, 3, 2}}}[k%4]
		m, inner, n := 1+r.IntN(9), 1+r.IntN(40), 1+r.IntN(35)
		o, _ := matmulCase(r, mil.Int32, batch[0], batch[1], batch[2], m, inner, n)
		x, y := o.in[0].value, o.in[1].value
		tx := strings.Contains(o.settings, "transpose_x = bool(true)")
		ty := strings.Contains(o.settings, "transpose_y = bool(true)")
		each(o.want[0].shape, func(i []int) {
			var sum int32
			for c := range inner {
				sum += int32(x.turned(i, i[len(i)-2], c, tx)) * int32(y.turned(i, c, i[len(i)-1], ty))
			}
			o.want[0].set(float64(sum), i...)
		})
		o.exact(t)
	}
	x, w, b := fill(r, mil.Int32, 3, 5), fill(r, mil.Int32, 4, 5), fill(r, mil.Int32, 4)
	want := zeros(mil.Int32, 3, 4)
	each(want.shape, func(i []int) {
		sum := int32(b.v[i[1]])
		for c := range 5 {
			sum += int32(x.at(i[0], c)) * int32(w.at(i[1], c))
		}
		want.set(float64(sum), i...)
	})
	operation{op: "linear", in: []operand{{"x", x, false}, {"weight", w, true}, {"bias", b, true}},
		want: []nd{want}}.exact(t)
}

// A matrix product of rank 5 runs, with a note.
func TestMatmulOfRankFive(t *testing.T) {
	o, s := matmulCase(seeded(t), mil.FP16, []int{2, 1, 3}, []int{2, 1}, []int{2, 2, 3}, 3, 5, 4)
	o.near(t, s.bound)
}
