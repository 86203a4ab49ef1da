package gemm

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/engine/soft/internal/simd"
)

// halfOf returns the value of a half whose exponent 31 is an ordinary one, and its exponent.
func halfOf(h uint16) (float32, int) {
	m, e := float64(h&0x3ff), -14
	if x := int(h >> 10 & 31); x != 0 {
		m, e = m+1024, x-15
	}
	f := math.Ldexp(m, e-10)
	if h>>15 != 0 {
		f = -f
	}
	return float32(f), e
}

// fixedCase is a product of halves in range [lo, hi) of their magnitude's bits.
func fixedCase(r *rand.Rand, m, k, n int, lo, hi uint32) (a, b []float32, least []int32, want []int64, size []float64) {
	half := func() uint16 {
		if r.IntN(8) == 0 {
			return uint16(r.IntN(2)) << 15
		}
		return uint16(lo+r.Uint32N(hi-lo)) | uint16(r.IntN(2))<<15
	}
	a, b, least = make([]float32, m*k), make([]float32, k*n), make([]int32, m*k)
	ea, eb := make([]int, m*k), make([]int, k*n)
	for i := range a {
		a[i], ea[i] = halfOf(half())
		a[i] *= 0x1p16
		least[i] = 238<<23 - int32(ea[i]+127)<<23 - 1
	}
	for i := range b {
		b[i], eb[i] = halfOf(half())
	}
	want, size = make([]int64, m*n), make([]float64, m*n)
	for i := range m {
		for j := range n {
			for d := range k {
				if ea[i*k+d]+eb[d*n+j] < -16 {
					continue
				}
				p := float64(a[i*k+d]) * float64(b[d*n+j])
				size[i*n+j] += math.Abs(p)
				want[i*n+j] += int64(math.Trunc(p + math.Copysign(0.5, p)))
			}
		}
	}
	return a, b, least, want, size
}

// foursOf is the sum of products with groups of four, from the definition.
func foursOf(a, b []float32, least []int32, k, n, i, j int) int64 {
	total, group := int64(0), int64(0)
	for d := range k {
		v := int64(0)
		if Exponent(b[d*n+j]) > least[i*k+d] {
			p := float64(a[i*k+d]) * float64(b[d*n+j])
			v = int64(math.Trunc(p + math.Copysign(0.5, p)))
		}
		if d%4 == 0 {
			total, group = total+group, v
			continue
		}
		larger := max(group, -group, v, -v)
		exact := new(big.Float).SetInt64(group + v)
		if shift := big.NewInt(larger).BitLen() - 12; larger >= foursFrom {
			q, _ := exact.SetMantExp(exact, -shift).Float64()
			group = int64(math.RoundToEven(q)) << shift
		} else {
			group += v
		}
	}
	return total + group
}

func TestFixed(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, kernel := range simd.Levels() {
		t.Run(kernel.String(), func(t *testing.T) {
			use(t, kernel)
			for round := range effort.Cases(300) {
				m, k, n := FixedRows*(1+r.IntN(3)), 1+r.IntN(40), 1+r.IntN(30)
				deep := round%20 == 0
				if deep {
					k = 250 + r.IntN(300)
				}
				if round%40 == 0 { // the kernels copy so few columns, some rows at a time
					n = 1 + r.IntN(narrowFixed-1)
				}
				if round%30 == 7 { // nothing is left over of what they sum at once
					k = []int{depthNarrow, depthMax}[r.IntN(2)]
				}
				lo, hi := uint32(0x0000), uint32(0x5000)
				if round%3 == 0 || deep {
					lo, hi = 0x1000, 0x4400
				} else if round%3 == 1 { // products of 1024 to 12544, on both sides of foursFrom
					lo, hi = 0x5000, 0x5700
					n, k = 1+n/3, min(k, 4)
				}
				a, b, least, want, size := fixedCase(r, m, k, n, lo, hi)
				sums, sizes := make([]int32, m*n), make([]float32, m*n)
				for _, how := range []int{Exact, Fours} {
					Fixed(sums, sizes, a, least, b, m, k, n, how)
					for i := range sums {
						require.InEpsilon(t, size[i]+1, float64(sizes[i])+1, 1e-4)
						if Bound(sizes[i], k) >= 1<<31 {
							continue
						}
						w := want[i]
						if how == Fours {
							w = foursOf(a, b, least, k, n, i/n, i%n)
						}
						require.Equal(t, w, int64(sums[i]), fmt.Sprint(kernel, how, m, k, n, i))
					}
				}
			}
		})
	}
}

// TestFixedPanics: a slice that is an element short, rows that are no multiple, and nothing to sum; with fewer columns
// than a kernel takes, and with more.
func TestFixedPanics(t *testing.T) {
	for _, n := range []int{5, 12} {
		const m, k = FixedRows, 6
		for name, less := range map[string][8]int{"sums": {1}, "sizes": {0, 1}, "a": {0, 0, 1}, "least": {0, 0, 0, 1},
			"b": {0, 0, 0, 0, 1}, "rows": {0, 0, 0, 0, 0, 1}, "depth": {0, 0, 0, 0, 0, 0, k}, "columns": {7: n}} {
			require.PanicsWithValue(t, "BUG: gemm: slice shorter than its matrix", func() {
				Fixed(make([]int32, m*n-less[0]), make([]float32, m*n-less[1]), make([]float32, m*k-less[2]),
					make([]int32, m*k-less[3]), make([]float32, k*n-less[4]), m-less[5], k-less[6], n-less[7], Exact)
			}, name)
		}
		Fixed(make([]int32, m*n), make([]float32, m*n), make([]float32, m*k), make([]int32, m*k), make([]float32, k*n),
			m, k, n, Exact)
	}
}

// leastCase is a product in which elements of b have an exponent that is that of least, and not above it: they count as
// 0. want are the sums of each column.
func leastCase(m, k, n int) (a, b []float32, least []int32, want []int32) {
	a, b, least, want = make([]float32, m*k), make([]float32, k*n), make([]int32, m*k), make([]int32, n)
	for i := range a {
		a[i], least[i] = 16, Exponent(8)
	}
	for i := range b {
		if b[i] = []float32{8, -15, 16}[i%3]; b[i] == 16 {
			want[i%n] += 256
		}
	}
	return a, b, least, want
}

func TestFixedLeast(t *testing.T) {
	const m, n = FixedRows, 11
	eachKernel(t, func(t *testing.T) {
		for _, k := range []int{1, 4, 6} {
			a, b, least, want := leastCase(m, k, n)
			sums, sizes := make([]int32, m*n), make([]float32, m*n)
			for _, how := range []int{Exact, Fours} {
				Fixed(sums, sizes, a, least, b, m, k, n, how)
				for i, s := range sums {
					require.Equal(t, want[i%n], s, fmt.Sprint(how, k, i))
					require.Equal(t, float32(want[i%n]), sizes[i], fmt.Sprint(how, k, i))
				}
			}
		}
	})
}

// TestBound: k products of halves whose magnitudes sum to size in float32, as far below their sum as its rounding
// allows, may each gain a half, and sums in groups of four three roundings to 12 bits. The bound is no looser than
// twice the errors and 1 %.
func TestBound(t *testing.T) {
	for _, k := range []int{1, 3, 4, 100, 4096, 1 << 20} {
		for _, size := range []float32{0, 1, 1000, 1 << 20, 0x1p30} {
			sum := float64(size)*(1+float64(k)*0x1p-23) + float64(k)/2
			require.LessOrEqual(t, sum*(1+3*0x1p-12), Bound(size, k), k)
			most := float64(size)*(1+float64(k)*0x1p-22) + float64(k)
			require.LessOrEqual(t, Bound(size, k), 1.01*most, k)
		}
	}
}

// BenchmarkFixed stands beside BenchmarkMul: the same shapes, with rows up to a multiple of four.
func BenchmarkFixed(b *testing.B) {
	for how, name := range []string{"exact", "fours"} {
		for _, s := range benchShapes {
			m := (s.m + FixedRows - 1) / FixedRows * FixedRows
			b.Run(fmt.Sprintf("%dx%dx%d/%s", m, s.k, s.n, name), func(b *testing.B) {
				left, right, least, _, _ := fixedCase(rand.New(rand.NewPCG(1, 1)), m, s.k, s.n, 0x3000, 0x3c00)
				sums, sizes := make([]int32, m*s.n), make([]float32, m*s.n)
				b.ReportAllocs()
				for b.Loop() {
					Fixed(sums, sizes, left, least, right, m, s.k, s.n, how)
				}
				b.ReportMetric(2*float64(m*s.k*s.n)*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
			})
		}
	}
}
