package gemm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/numerics"
)

// TestWalk compares with sums of integers, one product after another, that stop where they leave the range.
func TestWalk(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for name, ok := range kernels() {
		if !ok {
			continue
		}
		t.Run(name, func(t *testing.T) {
			use(t, name)
			stopped, whole := 0, 0
			for round := range 120 {
				m, k, n := 4, 1+r.IntN(60), 1+r.IntN(30)
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

// BenchmarkWalk is beside BenchmarkFixed.
func BenchmarkWalk(b *testing.B) {
	const k, n = 512, 256
	for how, name := range []string{"exact", "fours"} {
		b.Run(name, func(b *testing.B) {
			left, right, least, _, _ := fixedCase(rand.New(rand.NewPCG(1, 1)), 4, k, n, 0x3000, 0x3c00)
			for b.Loop() {
				var columns int
				for j := 0; j < n; j += columns {
					var sums [WalkRows * WalkColumns]float64
					columns = Walk(&sums, left, least, right, 0, j, k, n, how, false)
				}
			}
			b.ReportMetric(2*WalkRows*k*n*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
		})
	}
}
