package soft_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/effort"
)

// broadcastPair returns two shapes that broadcast, and their result.
func broadcastPair(r *rand.Rand) (x, y, out []int) {
	out = randomShape(r, 0, 5)
	cut := func() []int {
		s := append([]int{}, out...)
		for i := range s {
			if r.IntN(3) == 0 {
				s[i] = 1
			}
		}
		for len(s) > 0 && r.IntN(4) == 0 {
			s = s[1:]
		}
		return s
	}
	x, y = cut(), cut()
	for i := range out { // an axis of length 1 in both operands is 1 in the result
		dim := func(s []int) int {
			if j := i - len(out) + len(s); j >= 0 {
				return s[j]
			}
			return 1
		}
		out[i] = max(dim(x), dim(y))
	}
	return x, y, out[len(out)-max(len(x), len(y)):]
}

// pick returns the element of a that broadcasts to index i.
func (a nd) pick(i []int) float64 {
	j := append([]int{}, i[len(i)-len(a.shape):]...)
	for k, n := range a.shape {
		if n == 1 {
			j[k] = 0
		}
	}
	return a.at(j...)
}

func binaryCase(r *rand.Rand, op string, x, y nd, out []int, f func(x, y float64) float64) operation {
	want := zeros(x.d, out...)
	each(out, func(i []int) { want.set(f(x.pick(i), y.pick(i)), i...) })
	o := operation{op: op, in: []operand{{arg: "x", value: x}, {arg: "y", value: y}}, want: []nd{want}}
	switch r.IntN(5) { // constants on either side, or on both, which folds
	case 0:
		o.in[0].fixed = true
	case 1:
		o.in[1].fixed = true
	case 2:
		o.in[0].fixed, o.in[1].fixed = true, true
	}
	return o
}

var arithmetic = map[string]func(x, y float64) float64{
	"add":      func(x, y float64) float64 { return x + y },
	"sub":      func(x, y float64) float64 { return x - y },
	"mul":      func(x, y float64) float64 { return x * y },
	"real_div": func(x, y float64) float64 { return x / y },
	"maximum":  func(x, y float64) float64 { return max(x, y) }, // NaN propagates
	"minimum":  func(x, y float64) float64 { return min(x, y) },
}

func TestArithmetic(t *testing.T) {
	for op, f := range arithmetic {
		for _, d := range []mil.DType{mil.FP16, mil.FP32} {
			t.Run(op+"/"+d.String(), func(t *testing.T) {
				r := seeded(t)
				for range effort.Cases(40) {
					x, y, out := broadcastPair(r)
					a, b := fill(r, d, x...), fill(r, d, y...)
					if r.IntN(3) == 0 {
						a, b = special(r, d, x...), special(r, d, y...)
					}
					binaryCase(r, op, a, b, out, f).exact(t)
				}
			})
		}
	}
}

func TestArithmeticEverySpecialPair(t *testing.T) {
	n := len(specials)
	for op, f := range arithmetic {
		for _, d := range []mil.DType{mil.FP16, mil.FP32} {
			x, y := zeros(d, n, 1), zeros(d, 1, n)
			for i, s := range specials {
				x.v[i], y.v[i] = load(d, store(d, s)), load(d, store(d, s))
			}
			binaryCase(seeded(t), op, x, y, []int{n, n}, f).exact(t)
		}
	}
}

// TestHalfArithmeticAgainstWide draws halves by their bits: sums and products
// that an intermediate format could round twice.
func TestHalfArithmeticAgainstWide(t *testing.T) {
	for op, f := range arithmetic {
		r := seeded(t)
		x, y := zeros(mil.FP16, 20000), zeros(mil.FP16, 20000)
		for i := range x.v {
			x.v[i], y.v[i] = halfValue(uint16(r.Uint32())), halfValue(uint16(r.Uint32()))
		}
		binaryCase(r, op, x, y, []int{20000}, f).exact(t)
	}
}

// TestArithmeticOfShortRows repeats operands in short rows, in more than one piece.
func TestArithmeticOfShortRows(t *testing.T) {
	r := seeded(t)
	for _, c := range []struct{ x, y, out []int }{
		{[]int{300, 8}, []int{8}, []int{300, 8}}, {[]int{300, 8}, []int{300, 1}, []int{300, 8}},
		{[]int{1, 47}, []int{90, 47}, []int{90, 47}}, {[]int{70, 1}, []int{1, 63}, []int{70, 63}},
		{[]int{2, 3, 200, 5}, []int{2, 1, 200, 1}, []int{2, 3, 200, 5}},
		{[]int{3, 1, 7}, []int{1, 110, 7}, []int{3, 110, 7}}, {[]int{5, 40, 1, 9}, []int{40, 3, 1}, []int{5, 40, 3, 9}},
	} {
		for op, f := range arithmetic {
			binaryCase(r, op, fill(r, mil.FP16, c.x...), fill(r, mil.FP16, c.y...), c.out, f).exact(t)
		}
	}
}

func TestIntArithmetic(t *testing.T) {
	wrap := func(f func(x, y int32) int32) func(x, y float64) float64 {
		return func(x, y float64) float64 { return float64(f(int32(x), int32(y))) }
	}
	for op, f := range map[string]func(x, y int32) int32{
		"add":     func(x, y int32) int32 { return x + y },
		"sub":     func(x, y int32) int32 { return x - y },
		"mul":     func(x, y int32) int32 { return x * y },
		"maximum": func(x, y int32) int32 { return max(x, y) },
		"minimum": func(x, y int32) int32 { return min(x, y) },
	} {
		t.Run(op, func(t *testing.T) {
			r := seeded(t)
			for range 20 {
				x, y, out := broadcastPair(r)
				binaryCase(r, op, fill(r, mil.Int32, x...), fill(r, mil.Int32, y...), out, wrap(f)).exact(t)
			}
		})
	}
}

// TestPow allows one unit in the last place: pow is computed in float64 and
// rounded once.
func TestPow(t *testing.T) {
	for _, d := range []mil.DType{mil.FP16, mil.FP32} {
		r := seeded(t)
		for range 40 {
			x, y, out := broadcastPair(r)
			a, b := fill(r, d, x...), fill(r, d, y...)
			switch r.IntN(3) {
			case 0:
				a, b = special(r, d, x...), special(r, d, y...)
			case 1:
				for i := range a.v {
					a.v[i] = math.Abs(a.v[i])
				}
			}
			o := binaryCase(r, "pow", a, b, out, math.Pow)
			o.near(t, o.oneUlp)
		}
	}
}
