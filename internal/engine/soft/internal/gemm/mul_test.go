package gemm

import (
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/effort"
)

// large are shapes that need several tiles, bands and blocks along k, and whose
// last piece is partial in both directions.
var large = []struct{ m, k, n int }{
	{32, 768, 256}, {33, 257, 129}, {1, 1100, 256}, {17, 600, 131}, {9, 513, 1}, {8, 70, 31},
	{1, 1000, 127}, {1, 2, 128}, {9, 9, 300}, {7, 256, 160}, {5, 512, 64}, {12, 65, 33}, {3, 129, 15}, {15, 600,
		70}, {1, 5000, 1},
}

// TestExactProducts uses fp16 values, whose products need no rounding: every
// kernel gives the bits of the plain loop.
func TestExactProducts(t *testing.T) {
	effort.SkipShort(t)
	r := rand.New(rand.NewPCG(1, 2))
	a, b := halves(r, 33*5000), halves(r, 1100*256)
	eachKernel(t, func(t *testing.T) {
		check := func(m, k, n int) {
			want, got := make([]float32, m*n), normals(r, m*n)
			loop(want, a, b, m, k, n, rounded)
			Mul(got, a, b, m, k, n)
			sameBits(t, want, got, "%d x %d x %d", m, k, n)
		}
		for m := 1; m <= 9; m++ {
			for k := range 41 {
				for n := 1; n <= 40; n++ {
					check(m, k, n)
				}
			}
		}
		for _, s := range large {
			check(s.m, s.k, s.n)
		}
	})
}

// TestOwnRounding uses operands whose products need rounding: assembly gives the
// fused sums bit by bit, Go code the rounded ones.
func TestOwnRounding(t *testing.T) {
	effort.SkipShort(t)
	r := rand.New(rand.NewPCG(3, 4))
	eachKernel(t, func(t *testing.T) {
		for _, s := range large {
			a, b := normals(r, s.m*s.k), normals(r, s.k*s.n)
			want, got := make([]float32, s.m*s.n), make([]float32, s.m*s.n)
			loop(want, a, b, s.m, s.k, s.n, own())
			Mul(got, a, b, s.m, s.k, s.n)
			sameBits(t, want, got, "%v", s)
		}
	})
}

// TestErrorBound compares with float64. A sum of k rounded products in order has
// an error of at most g = k*u/(1-k*u) times the sum of magnitudes, u = 2^-24.
func TestErrorBound(t *testing.T) {
	effort.SkipShort(t)
	r := rand.New(rand.NewPCG(5, 6))
	eachKernel(t, func(t *testing.T) {
		for _, s := range large {
			a, b := normals(r, s.m*s.k), normals(r, s.k*s.n)
			got := make([]float32, s.m*s.n)
			Mul(got, a, b, s.m, s.k, s.n)
			ku := float64(s.k) / (1 << 24)
			for i := range s.m {
				for j := range s.n {
					var sum, size float64
					for p := range s.k {
						v := float64(a[i*s.k+p]) * float64(b[p*s.n+j])
						sum, size = sum+v, size+math.Abs(v)
					}
					require.InDelta(t, sum, float64(got[i*s.n+j]), ku/(1-ku)*size, "%v, row %d, column %d", s, i, j)
				}
			}
		}
	})
}

// TestTiling cuts a product along m and n at random and requires the bits of the
// whole. Its operands expose every change of order or rounding.
func TestTiling(t *testing.T) {
	const m, k, n = 37, 300, 173
	r := rand.New(rand.NewPCG(7, 8))
	a, b, whole := normals(r, m*k), normals(r, k*n), make([]float32, m*n)
	eachKernel(t, func(t *testing.T) {
		Mul(whole, a, b, m, k, n)
		for range 200 {
			m0, n0 := r.IntN(m), r.IntN(n)
			h, w := 1+r.IntN(m-m0), 1+r.IntN(n-n0)
			right, want, got := make([]float32, k*w), make([]float32, h*w), make([]float32, h*w)
			for p := range k {
				copy(right[p*w:][:w], b[p*n+n0:])
			}
			for i := range h {
				copy(want[i*w:][:w], whole[(m0+i)*n+n0:])
			}
			Mul(got, a[m0*k:], right, h, k, w)
			sameBits(t, want, got, "rows %d+%d, columns %d+%d", m0, h, n0, w)
		}
	})
}

func TestSpecialValues(t *testing.T) {
	inf, nan, negZero := float32(math.Inf(1)), float32(math.NaN()), float32(math.Copysign(0, -1))
	for _, c := range []struct {
		name string
		a, b []float32 // one row, one column
		want float32
	}{
		{"zero times infinity", []float32{1, 0, 1}, []float32{1, inf, 1}, nan},
		{"infinity times zero", []float32{1, -inf, 1}, []float32{1, negZero, 1}, nan},
		{"zero times NaN", []float32{0, 0}, []float32{nan, 1}, nan},
		{"NaN last", []float32{1, 1, nan}, []float32{1, 1, 0}, nan},
		{"opposite infinities", []float32{inf, inf}, []float32{1, -1}, nan},
		{"infinity stays", []float32{2, -inf, 5}, []float32{1, 3, -1}, -inf},
		{"overflow", []float32{math.MaxFloat32, 1}, []float32{2, 1}, inf},
		{"sums start at +0", []float32{negZero, negZero}, []float32{1, 1}, 0},
		{"a negative zero product gives +0", []float32{-1}, []float32{0}, 0},
		{"cancelled", []float32{3, -3}, []float32{5, 5}, 0},
		{"smallest subnormal", []float32{0x1p-75}, []float32{0x1p-74}, 0x1p-149},
		{"subnormal operand", []float32{0x1p-149}, []float32{0x1p20}, 0x1p-129},
		{"order", []float32{0x1p24, 1, -0x1p24}, []float32{1, 1, 1}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachKernel(t, func(t *testing.T) {
				k := len(c.a)
				// Every row and column of every piece gives the same value.
				for _, s := range []struct{ m, n int }{{1, 1}, {1, 200}, {11, 45}} {
					a, b := make([]float32, s.m*k), make([]float32, k*s.n)
					want, got := make([]float32, s.m*s.n), make([]float32, s.m*s.n)
					for i := range a {
						a[i] = c.a[i%k]
					}
					for i := range b {
						b[i] = c.b[i/s.n]
					}
					for i := range want {
						want[i] = c.want
					}
					Mul(got, a, b, s.m, k, s.n)
					sameBits(t, want, got, "%v", s)
				}
			})
		})
	}
}

// TestSpreadOfNaN puts NaN, infinities and zeros among fp16 values and checks that
// they affect only their own sums.
func TestSpreadOfNaN(t *testing.T) {
	effort.SkipShort(t)
	r := rand.New(rand.NewPCG(9, 10))
	odd := []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 0, float32(math.Copysign(0, -1))}
	eachKernel(t, func(t *testing.T) {
		for range 300 {
			m, k, n := 1+r.IntN(20), 1+r.IntN(90), 1+r.IntN(150)
			a, b := halves(r, m*k), halves(r, k*n)
			for range 1 + m/4 {
				a[r.IntN(len(a))] = odd[r.IntN(len(odd))]
			}
			for range 1 + n/4 {
				b[r.IntN(len(b))] = odd[r.IntN(len(odd))]
			}
			want, got := make([]float32, m*n), make([]float32, m*n)
			loop(want, a, b, m, k, n, rounded)
			Mul(got, a, b, m, k, n)
			sameBits(t, want, got, "%d x %d x %d", m, k, n)
		}
	})
}

// TestManyWorkers multiplies the same operands on several goroutines at once.
func TestManyWorkers(t *testing.T) {
	const m, k, n = 19, 700, 77
	r := rand.New(rand.NewPCG(11, 12))
	a, b, want := normals(r, m*k), normals(r, k*n), make([]float32, m*n)
	eachKernel(t, func(t *testing.T) {
		Mul(want, a, b, m, k, n)
		results := make([][]float32, 8)
		var wait sync.WaitGroup
		for i := range results {
			results[i] = make([]float32, m*n)
			wait.Go(func() { Mul(results[i], a, b, m, k, n) })
		}
		wait.Wait()
		for i, got := range results {
			sameBits(t, want, got, "goroutine %d", i)
		}
	})
}
