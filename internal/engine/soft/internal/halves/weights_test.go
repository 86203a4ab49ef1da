package halves

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft/internal/simd"
)

// onAVX2 runs f with the kernels of AVX2, or skips.
func onAVX2(t *testing.T, f func()) {
	if machine != simd.AVX2 && machine != avx512 {
		t.Skip("this processor has no AVX2")
	}
	kernel := machine
	machine = simd.AVX2
	defer func() { machine = kernel }()
	f()
}

// TestWeights compares with math.Exp, bit for bit, and with sums in order.
func TestWeights(t *testing.T) {
	onAVX2(t, func() {
		r := rand.New(rand.NewPCG(19, 20))
		decided, all := 0, 0
		for _, n := range []int{1, 3, 4, 5, 8, 31, 64, 257, 1000, most + 7} {
			for _, spread := range []float64{0, 0x1p-30, 0.01, 1, 8, 40, 300, 1e30} {
				for _, way := range []string{"", "zeros", "causal", "far", "any"} {
					const rows = 3
					scores, mask := make([]float32, rows*n), make([]float32, 0, n)
					for i := range scores {
						scores[i] = float32(r.NormFloat64() * spread)
					}
					for i := range n {
						switch more := r.NormFloat64() * 20; {
						case way == "zeros":
							more = 0
							fallthrough
						case way == "any":
							mask = append(mask, float32(more))
						case way == "causal", way == "far":
							mask = append(mask, []float32{0, float32(math.Inf(-1)), -10000}[min(i*3/(n+1), 1)*len(way)/4])
						}
					}
					scale := 1 / math.Sqrt(float64(r.IntN(200)+1))
					from, totals := slices.Clone(scores), make([]float64, rows)
					done := Weights(totals, scores, mask, scale)
					all, decided = all+rows, decided+done
					for row := range done {
						want, sum := weightsInDoubles(from[row*n:][:n], mask, scale)
						require.InEpsilon(t, sum, totals[row], 0x1p-39, "%d %g %s", n, spread, way)
						for i, f := range want {
							require.Equal(t, math.Float32bits(f), math.Float32bits(scores[row*n+i]), "%d %g %s: row %d: %d", n,
								spread, way, row, i)
						}
					}
				}
			}
		}
		require.Greater(t, decided, all*19/20)
		inf, nan := float32(math.Inf(1)), float32(math.NaN())
		for _, bad := range [][]float32{{1, 2, inf, 3}, {1, nan, 2, 3, 4}, {1, 2, 3, 4, nan}, {-inf, -inf, -inf, -inf, -inf}} {
			totals, rows := []float64{7, 7, 7}, make([]float32, len(bad))
			require.Equal(t, 1, Weights(totals, slices.Concat(rows, bad, rows), nil, 1), "the row before it")
			require.Equal(t, float64(len(bad)), totals[0])
			require.Equal(t, 7.0, totals[2])
		}
	})
}

// weightsInDoubles is Weights with math.Exp.
func weightsInDoubles(scores, mask []float32, scale float64) (weights []float32, sum float64) {
	at, top := make([]float64, len(scores)), math.Inf(-1)
	for i, f := range scores {
		at[i] = float64(float64(f) * scale)
		if len(mask) > 0 {
			at[i] += float64(mask[i])
		}
		top = max(top, at[i])
	}
	for _, f := range at {
		e := math.Exp(f - top)
		weights, sum = append(weights, float32(e)), sum+e
	}
	return weights, sum
}

// TestQuotients compares with division in float64.
func TestQuotients(t *testing.T) {
	onAVX2(t, func() {
		r := rand.New(rand.NewPCG(21, 22))
		decided, all := 0, 0 // a middle is undecided
		for _, n := range []int{1, 15, 16, 17, 64, 129, 1000} {
			for _, by := range []float64{1, 1 + 0x1p-52, 3, 977.25, 1e6} {
				x, want, got := make([]float32, n), make([]fp16.Bits, n), make([]fp16.Bits, n)
				for i := range x {
					x[i] = float32(r.NormFloat64() * by * math.Pow(2, float64(r.IntN(20)-16)))
					if i%7 == 3 { // at the middle of two halves, or beside it
						x[i] = math.Float32frombits(math.Float32bits(float32((1025+2*float64(i))/2048*by)) + uint32(r.IntN(3)) - 1)
					}
					want[i] = fp16.FromFloat64(float64(x[i]) / by)
				}
				if all++; Quotients(got, x, by, 256) {
					decided++
					require.Equal(t, want, got)
				}
				for _, f := range []float32{float32(math.NaN()), float32(math.Inf(-1)), math.MaxFloat32} {
					x[n/2] = f
					require.False(t, Quotients(got, x, by, 256))
				}
			}
		}
		require.Greater(t, decided, all/3)
		x, got := make([]float32, 32), make([]fp16.Bits, 32)
		x[3], x[20] = float32(math.Copysign(0, -1)), -0x1p-40
		require.True(t, Quotients(got, x, 3, 256))
		require.Equal(t, []fp16.Bits{0, sign, sign}, []fp16.Bits{got[2], got[3], got[20]})
		// The error of a total grows with its terms, and so what is near a middle does.
		for i := range x {
			x[i] = 1 + 0x1p-11
		}
		require.True(t, Quotients(got, x, 1+0x1p-37, 256))
		require.Equal(t, slices.Repeat([]fp16.Bits{0x3c00}, len(x)), got)
		require.False(t, Quotients(got, x, 1+0x1p-37, 1<<16))
	})
}

// BenchmarkWeights is ns a score of rows in the cache, beside math.Exp.
func BenchmarkWeights(b *testing.B) {
	const n, rows = 256, 4
	from, scores, totals := make([]float32, n*rows), make([]float32, n*rows), make([]float64, rows)
	for i := range from {
		from[i] = float32(i*7919%127-63) / 8
	}
	for _, quick := range []bool{true, false} {
		b.Run(map[bool]string{true: "vector", false: "math.Exp"}[quick], func(b *testing.B) {
			if quick && !QuickWeights() {
				b.Skip("this processor has no kernel")
			}
			for b.Loop() {
				copy(scores, from)
				if quick {
					Weights(totals, scores, nil, 0.125)
				} else {
					weightsInDoubles(scores, nil, 0.125)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n/rows, "ns/score")
		})
	}
}
