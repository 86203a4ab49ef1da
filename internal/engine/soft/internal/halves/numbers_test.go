package halves

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/numerics"
)

// rules are those of chips, which round half away from zero or to even.
func rules(away bool) numerics.Rules {
	if away {
		return numerics.Exponent31 | numerics.HalfAway
	}
	return numerics.Exponent31
}

var exactNumbers = map[Op]func(x, y float64) float64{
	Add: func(x, y float64) float64 { return x + y },
	Sub: func(x, y float64) float64 { return x - y },
	Mul: func(x, y float64) float64 { return x * y },
	Max: math.Max,
	Min: math.Min,
	Div: func(x, y float64) float64 {
		switch {
		case x == 0:
			return 0
		case y == 0:
			return math.Copysign(math.Inf(1), x)
		}
		return x / y // no tie of halves is nearer than 2^-25 to a quotient that is not one
	},
}

// TestBinaryOfNumbers: every half with others, also near it, where sums tie.
func TestBinaryOfNumbers(t *testing.T) {
	each(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		x, y, got := make([]fp16.Bits, 1<<16), make([]fp16.Bits, 1<<16), make([]fp16.Bits, 1<<16)
		for round := range 6 {
			for i := range x {
				x[i], y[i] = fp16.Bits(i), fp16.Bits(r.Uint32())
				switch round % 3 {
				case 1:
					y[i] = x[i]&^0x7fff | max(x[i]&0x7fff, 0x3000) - fp16.Bits(r.Uint32N(0x3000))
				case 2:
					y[i] &= 0x83ff
				}
			}
			for op, f := range exactNumbers {
				for _, away := range []bool{false, true} {
					Binary(op, got, x, y, rules(away))
					for i, h := range got {
						want := rules(away).Round(f(float64(numerics.Number(x[i])), float64(numerics.Number(y[i]))))
						if h != want {
							t.Fatalf("results differ: %d: %#04x and %#04x give %#04x, not %#04x, away %t", op,
								x[i],
								y[i], h, want, away)
						}
					}
				}
			}
		}
	})
}

// TestShapesOfNumbers: repeated operands, every length around a block, and results in the place of operands.
func TestShapesOfNumbers(t *testing.T) {
	each(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 4))
		for n := range 50 {
			x, y := make([]fp16.Bits, n), make([]fp16.Bits, n)
			for i := range x {
				x[i], y[i] = fp16.Bits(r.Uint32()), fp16.Bits(r.Uint32())
			}
			for op, f := range exactNumbers {
				for _, c := range []struct{ x, y []fp16.Bits }{{x, y}, {x[:min(n, 1)], y}, {x, y[:min(n, 1)]}} {
					want := make([]fp16.Bits, n)
					for i := range want {
						a, b := c.x[min(i, len(c.x)-1)], c.y[min(i, len(c.y)-1)]
						want[i] = rules(true).Round(f(float64(numerics.Number(a)), float64(numerics.Number(b))))
					}
					got := slices.Clone(c.x)
					if len(got) != n {
						got = make([]fp16.Bits, n)
						Binary(op, got, c.x, c.y, rules(true))
					} else {
						Binary(op, got, got, c.y, rules(true))
					}
					require.Equal(t, want, got, fmt.Sprint(op, n))
				}
			}
		}
		require.Panics(t, func() {
			Binary(Add, make([]fp16.Bits, 3), make([]fp16.Bits, 2), make([]fp16.Bits, 3), rules(true))
		})
	})
}

// TestLengthsOfNumbers: around a block, around what the Go code does at once and around one call of assembly; nothing
// is written past the end of a result.
func TestLengthsOfNumbers(t *testing.T) {
	const some, guard, mark = 256, 2 * most, fp16.Bits(0x5555)
	each(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 6))
		x, y := make([]fp16.Bits, 3*most), make([]fp16.Bits, 3*most)
		for i := range x {
			x[i], y[i] = fp16.Bits(r.Uint32()), fp16.Bits(r.Uint32())
		}
		values := make([]float32, len(x))
		for i, h := range x {
			values[i] = numerics.Number(h)
		}
		room, wide := make([]fp16.Bits, len(x)+guard), make([]float32, len(x)+guard)
		for _, n := range []int{
			0, 1, block - 1, block, block + 1, 2 * block, some - 1, some, some + 1, some + block + 3,
			most - 1, most, most + 1, most + block, most + 3*block + 5, 2*most + block,
		} {
			// result compares the first n halves that f writes, and looks for the mark after them.
			result := func(f func(dst []fp16.Bits), want func(i int) fp16.Bits) {
				t.Helper()
				for i := range room {
					room[i] = mark
				}
				f(room[:n])
				for i, h := range room {
					if i < n && h != want(i) || i >= n && h != mark {
						t.Fatalf("%d elements: element %d is %#04x", n, i, h)
					}
				}
			}
			sum := func(a, b fp16.Bits) fp16.Bits {
				return rules(true).Round(float64(numerics.Number(a)) + float64(numerics.Number(b)))
			}
			result(func(dst []fp16.Bits) { Binary(Add, dst, x[:n], y[:n], rules(true)) },
				func(i int) fp16.Bits { return sum(x[i], y[i]) })
			result(func(dst []fp16.Bits) { Binary(Add, dst, x[:1], y[:n], rules(true)) },
				func(i int) fp16.Bits { return sum(x[0], y[i]) })
			result(func(dst []fp16.Bits) { Binary(Add, dst, x[:n], y[:1], rules(true)) },
				func(i int) fp16.Bits { return sum(x[i], y[0]) })
			result(func(dst []fp16.Bits) { Binary(Add, dst, x[:1], y[:1], rules(true)) },
				func(int) fp16.Bits { return sum(x[0], y[0]) })
			for _, away := range []bool{false, true} {
				result(func(dst []fp16.Bits) { Encode(dst, values[:n], rules(away)) },
					func(i int) fp16.Bits { return rules(away).Round(float64(values[i])) })
			}
			clear(wide)
			Decode(wide[:n], x[:n], rules(true))
			for i, v := range wide {
				if i < n && math.Float32bits(v) != math.Float32bits(values[i]) || i >= n && v != 0 {
					t.Fatalf("%d elements: element %d is %g", n, i, v)
				}
			}
		}
	})
}

// TestConvert: Decode of every half, and Encode of what surrounds every half and every tie, of infinities and NaN.
func TestConvert(t *testing.T) {
	each(t, func(t *testing.T) {
		h, f := make([]fp16.Bits, 1<<16), make([]float32, 1<<16)
		for i := range h {
			h[i] = fp16.Bits(i)
		}
		Decode(f, h, rules(true))
		for i, v := range f {
			require.Equal(t, math.Float32bits(numerics.Number(h[i])), math.Float32bits(v), i)
		}
		src := []float32{float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), 0x1p-140, -0x1p-140,
			65519.996}
		for i := range 0x7c00 {
			low, high := fp16.Bits(i).Float32(), numerics.Number(fp16.Bits(i+1))
			tie := (low + high) / 2
			for _, v := range []float32{low, tie, math.Nextafter32(tie, 0), math.Nextafter32(tie, high)} {
				src = append(src, v, -v)
			}
		}
		got := make([]fp16.Bits, len(src))
		for _, away := range []bool{false, true} {
			Encode(got, src, rules(away))
			for i, v := range src {
				if want := rules(away).Round(float64(v)); got[i] != want {
					t.Fatalf("results differ: %g gives %#04x, not %#04x, away %t", v, got[i], want, away)
				}
			}
		}
	})
}

func BenchmarkBinary(b *testing.B) {
	x, y := make([]fp16.Bits, 1<<12), make([]fp16.Bits, 1<<12)
	for i := range x {
		x[i], y[i] = fp16.Bits(0x3000+i%0x1000), fp16.Bits(0x2c00+i*7919%0x1000)
	}
	for name, r := range map[string]numerics.Rules{"ieee": 0, "away": rules(true), "even": rules(false)} {
		for op, operator := range []string{"add", "sub", "mul", "div", "max", "min"} {
			b.Run(operator+"/"+name, func(b *testing.B) {
				dst := make([]fp16.Bits, len(x))
				b.SetBytes(int64(6 * len(x)))
				for b.Loop() {
					Binary(Op(op), dst, x, y, r)
				}
			})
		}
	}
}
