package numbers

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/numerics"
	"github.com/anekit/anekit/internal/require"
)

// each runs f with the Go code and, where there is one, with the kernel.
func each(t *testing.T, f func(t *testing.T)) {
	was := machine.vector
	t.Cleanup(func() { machine.vector = was })
	for _, vector := range []bool{false, true} {
		if vector && !was {
			t.Log("no kernel for this processor")
			continue
		}
		machine.vector = vector
		t.Run(map[bool]string{false: "portable", true: "vector"}[vector], f)
	}
}

var exact = map[Op]func(x, y float64) float64{
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

// TestBinary: every half with others, also near it, where sums tie.
func TestBinary(t *testing.T) {
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
			for op, f := range exact {
				for _, away := range []bool{false, true} {
					Binary(op, got, x, y, away)
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

// TestShapes: repeated operands, every length around a block, and results in the place of operands.
func TestShapes(t *testing.T) {
	each(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 4))
		for n := range 50 {
			x, y := make([]fp16.Bits, n), make([]fp16.Bits, n)
			for i := range x {
				x[i], y[i] = fp16.Bits(r.Uint32()), fp16.Bits(r.Uint32())
			}
			for op, f := range exact {
				for _, c := range []struct{ x, y []fp16.Bits }{{x, y}, {x[:min(n, 1)], y}, {x, y[:min(n, 1)]}} {
					want := make([]fp16.Bits, n)
					for i := range want {
						a, b := c.x[min(i, len(c.x)-1)], c.y[min(i, len(c.y)-1)]
						want[i] = rules(true).Round(f(float64(numerics.Number(a)), float64(numerics.Number(b))))
					}
					got := slices.Clone(c.x)
					if len(got) != n {
						got = make([]fp16.Bits, n)
						Binary(op, got, c.x, c.y, true)
					} else {
						Binary(op, got, got, c.y, true)
					}
					require.Equal(t, want, got, fmt.Sprint(op, n))
				}
			}
		}
		require.Panics(t, func() {
			Binary(Add, make([]fp16.Bits, 3), make([]fp16.Bits, 2), make([]fp16.Bits, 3),
				true)
		})
	})
}

// TestConvert: Decode of every half, and Encode of what surrounds every half and every tie, of infinities and NaN.
func TestConvert(t *testing.T) {
	each(t, func(t *testing.T) {
		h, f := make([]fp16.Bits, 1<<16), make([]float32, 1<<16)
		for i := range h {
			h[i] = fp16.Bits(i)
		}
		Decode(f, h)
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
			Encode(got, src, away)
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
	for op, name := range []string{"add", "sub", "mul", "div", "max"} {
		b.Run(name, func(b *testing.B) {
			dst := make([]fp16.Bits, len(x))
			b.SetBytes(int64(6 * len(x)))
			for b.Loop() {
				Binary(Op(op), dst, x, y, true)
			}
		})
	}
}
