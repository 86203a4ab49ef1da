package gemm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/anekit/anekit/ane/numerics"
	"github.com/anekit/anekit/internal/budget"
	"github.com/anekit/anekit/internal/require"
)

// TestWalk compares with sums of integers, one product after another, that stop where they leave the range.
func TestWalk(t *testing.T) {
	budget.SkipRace(t)
	r := rand.New(rand.NewPCG(5, 6))
	for name, ok := range kernels() {
		if !ok {
			continue
		}
		t.Run(name, func(t *testing.T) {
			use(t, name)
			stopped, whole := 0, 0
			for round := range 120 {
				m, k, n := WalkRows*(1+r.IntN(2)), 1+r.IntN(60), 1+r.IntN(30)
				if round%10 == 0 {
					k = 250 + r.IntN(300)
				}
				lo, hi := uint32(0x4000), uint32(0x5800)
				switch round % 4 {
				case 0:
					lo, hi = 0x1000, 0x4400
				case 1:
					lo, hi = 0x5400, 0x8000
				}
				a, b, least, _, _ := fixedCase(r, m, k, n, lo, hi)
				if round%4 == 3 {
					touching(r, a, b, least)
				}
				start := int64(r.IntN(1<<20) - 1<<19)
				for _, how := range []int{Exact, Fours} {
					rules, inside := numerics.Range, how == Fours && InsideGroup(Most(a), Most(b))
					if how == Fours {
						rules |= numerics.Fours
					}
					for i := 0; i < m; i += WalkRows {
						var columns int
						for j := 0; j < n; j += columns {
							var sums [WalkRows * WalkColumns]float64
							for c := range sums {
								sums[c] = float64(start)
							}
							columns = Walk(&sums, a, least, b, i, j, k, n, how, inside)
							require.LessOrEqual(t, columns, n-j)
							for c := range sums {
								row, column := i+c/WalkColumns, j+c%WalkColumns
								if c%WalkColumns >= columns {
									continue
								}
								p := make([]int64, k)
								for d := range p {
									if g := b[d*n+column]; Exponent(g) > least[row*k+d] {
										p[d] = int64(math.Round(float64(a[row*k+d]) * float64(g)))
									}
								}
								want := rules.Accumulate(start, p) / numerics.Unit
								if math.IsInf(want, 0) {
									stopped++
								} else {
									whole++
								}
								require.Equal(t, want, sums[c], fmt.Sprint(name, how, k, n, row, column))
							}
						}
					}
				}
			}
			require.Positive(t, stopped)
			require.Positive(t, whole)
		})
	}
}

// touching replaces a and b by numbers whose products and sums are at the range, just below it and beyond.
func touching(r *rand.Rand, a, b []float32, least []int32) {
	pick := func(list ...float32) float32 { return list[r.IntN(len(list))] * float32(1-2*r.IntN(2)) }
	for i := range a {
		e := []int{0, 0, 0, -1, 1, -10}[r.IntN(6)]
		a[i], least[i] = float32(math.Ldexp(float64(pick(1)), e+16)), 238<<23-int32(e+127)<<23-1
	}
	most := []float32{2000, 8192, 16384, 65536}[r.IntN(4)]
	for i := range b {
		b[i] = min(most,
			pick(0, 1, 15, 16, 1000, 4096, 8184, 8192, 12288, 16376, 16384, 20000, 32736, 32752, 32768, 65504))
	}
}

// BenchmarkWalk is beside BenchmarkFixed.
func BenchmarkWalk(b *testing.B) {
	const k, n = 512, 256
	for i, name := range []string{"exact", "fours", "inside"} {
		b.Run(name, func(b *testing.B) {
			how, inside := min(i, Fours), i > Fours
			left, right, least, _, _ := fixedCase(rand.New(rand.NewPCG(1, 1)), 4, k, n, 0x3000, 0x3c00)
			for b.Loop() {
				var columns int
				for j := 0; j < n; j += columns {
					var sums [WalkRows * WalkColumns]float64
					columns = Walk(&sums, left, least, right, 0, j, k, n, how, inside)
				}
			}
			b.ReportMetric(2*WalkRows*k*n*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
		})
	}
}
