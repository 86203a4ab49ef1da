package gemm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/engine/soft/internal/simd"
	"github.com/anekit/anekit/internal/numerics"
)

// TestWalk compares with sums of integers, one product after another, that stop where they leave the range.
func TestWalk(t *testing.T) {
	effort.SkipShort(t)
	r := rand.New(rand.NewPCG(5, 6))
	for _, kernel := range simd.Levels() {
		t.Run(kernel.String(), func(t *testing.T) {
			use(t, kernel)
			stopped, whole := 0, 0
			for round := range 120 {
				m, k, n := WalkRows*(1+r.IntN(2)), 1+r.IntN(60), 1+r.IntN(30)
				if round%10 == 0 {
					k = 250 + r.IntN(300)
				}
				if round%10 == 5 { // nothing is left over of what is summed at once
					k = depthNarrow * (1 + r.IntN(2))
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
				var start [WalkRows * WalkColumns]int64
				for c := range start {
					start[c] = int64(r.IntN(1<<20) - 1<<19)
				}
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
								sums[c] = float64(start[c])
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
								want := rules.Accumulate(start[c], p) / numerics.Unit
								if math.IsInf(want, 0) {
									stopped++
								} else {
									whole++
								}
								require.Equal(t, want, sums[c], fmt.Sprint(kernel, how, k, n, row, column))
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
			pick(0, 0x1.8p-7, 1, 15, 16, 1000, 4096, 8184, 8192, 12288, 16376, 16384, 20000, 32736, 32752, 32768, 65504))
	}
}

func TestWalkLeast(t *testing.T) {
	const k, n = 6, 11
	eachKernel(t, func(t *testing.T) {
		a, b, least, want := leastCase(WalkRows, k, n)
		for _, how := range []int{Exact, Fours} {
			for _, inside := range []bool{false, true} {
				var columns int
				for j := 0; j < n; j += columns {
					var sums [WalkRows * WalkColumns]float64
					columns = Walk(&sums, a, least, b, 0, j, k, n, how, inside)
					for c := range WalkRows * columns {
						row, column := c/columns, c%columns
						require.Equal(t, float64(want[j+column]), sums[row*WalkColumns+column],
							fmt.Sprint(how, inside, row, j+column))
					}
				}
			}
		}
	})
}

func TestWalkPanics(t *testing.T) {
	const k, n, rows = 6, 5, 2 * WalkRows
	for name, less := range map[string][5]int{"a": {1}, "least": {0, 1}, "b": {0, 0, 1}, "depth": {0, 0, 0, k},
		"column": {4: 1}} {
		require.PanicsWithValue(t, "BUG: gemm: slice shorter than its matrix", func() {
			var sums [WalkRows * WalkColumns]float64
			Walk(&sums, make([]float32, rows*k-less[0]), make([]int32, rows*k-less[1]), make([]float32, k*n-less[2]),
				WalkRows, n-1+less[4], k-less[3], n, Exact, false)
		}, name)
	}
	var sums [WalkRows * WalkColumns]float64
	columns := Walk(&sums, make([]float32, rows*k), make([]int32, rows*k), make([]float32, k*n), WalkRows, n-1, k, n,
		Exact, false)
	require.Equal(t, 1, columns)
}

// TestOver: only the columns that count decide, and a sum at the end of the range is out of it.
func TestOver(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		over bool
		sums []float64
	}{
		{true, []float64{past, -past, 0, inf, -inf, 0}},
		{false, []float64{past - 1, past, past, past, past, past}},
		{false, []float64{past, -past + 1, past, past, past, past}},
		{false, []float64{past, past, 0, past, 0, 0}},
		{true, nil},
	} {
		require.Equal(t, c.over, over(c.sums, 3, 2), fmt.Sprint(c.sums))
	}
}

// TestInsideGroup: four products, each with half a unit of rounding and their sums with three of 2^-12, that may reach
// the range are reported.
func TestInsideGroup(t *testing.T) {
	for _, p := range []float64{0, 1, 0x1p28, 0x1p29 * (1 - 0x1p-8)} {
		require.False(t, InsideGroup(float32(p/1024), 1024), fmt.Sprint(p))
	}
	for _, p := range []float64{0x1p29 * (1 - 0x1p-9), 0x1p29, 0x1p40} {
		require.True(t, InsideGroup(float32(p/1024), 1024), fmt.Sprint(p))
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
