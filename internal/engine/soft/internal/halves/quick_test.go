package halves

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft/internal/simd"
)

// lanesOfHalves are sequences for Softmax, by what is hard about them.
var lanesOfHalves = map[string]func(r *rand.Rand, i, n int) float64{
	"normal":    func(r *rand.Rand, _, _ int) float64 { return r.NormFloat64() },
	"sharp":     func(r *rand.Rand, _, _ int) float64 { return 20 * r.NormFloat64() },
	"tiny":      func(r *rand.Rand, _, _ int) float64 { return r.NormFloat64() * 0x1p-20 },
	"mixed":     func(r *rand.Rand, _, _ int) float64 { return math.Ldexp(r.NormFloat64(), -r.IntN(24)) - 3 },
	"wide":      func(r *rand.Rand, _, _ int) float64 { return 30000 * r.NormFloat64() },
	"close":     func(r *rand.Rand, _, _ int) float64 { return 60000 + 32*float64(r.IntN(3)) },
	"masked":    func(r *rand.Rand, i, n int) float64 { return []float64{r.Float64(), math.Inf(-1)}[i%2&^(n&1)] },
	"equal":     func(*rand.Rand, int, int) float64 { return -5 },
	"one":       func(_ *rand.Rand, i, n int) float64 { return []float64{-30000, 7}[(i+1)/n] },
	"steps":     func(_ *rand.Rand, i, _ int) float64 { return -float64(i%127) / 2 },
	"negative":  func(r *rand.Rand, _, _ int) float64 { return -r.ExpFloat64() * 50000 },
	"subnormal": func(r *rand.Rand, _, _ int) float64 { return float64(r.IntN(2000)-1000) * 0x1p-24 },
}

// TestSoftmax compares with the sums and the quotients in float64. 4097 equal elements have a quotient next to the
// middle between two halves.
func TestSoftmax(t *testing.T) {
	onAVX2(t, func() { testSoftmax(t) })
}

func testSoftmax(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	decided, all := 0, 0
	for _, name := range slices.Sorted(maps.Keys(lanesOfHalves)) {
		element := lanesOfHalves[name]
		for _, n := range []int{1, 2, 7, 15, 16, 17, 31, 33, 48, 100, 256, 1000, 4097, most - 1, most} {
			x, whole := make([]fp16.Bits, n), (n+block-1)/block*block
			for i := range x {
				x[i] = fp16.FromFloat64(element(r, i, n))
			}
			span := NewSpan()
			span.Add(x)
			if _, high := span.Ends(); high.IsInf() {
				continue // the caller's
			}
			want, total, room := softmaxInDoubles(x)
			got, spare := make([]fp16.Bits, n), make([]fp16.Bits, 2*whole)
			had := append([]fp16.Bits{}, x...)
			ok := Softmax(got, x, room, spare)
			require.Equal(t, had, x)
			if all++; ok {
				decided++
				same(t, want, got, fmt.Sprint(name, n))
			}
			if ok != Softmax(x, x, room, spare) {
				t.Fatal(name, n, "in place differs")
			}
			if ok {
				same(t, want, x, fmt.Sprint(name, n, " in place"))
			}
			x = append(had, make([]fp16.Bits, whole-n)...)
			for i := n; i < whole; i++ {
				x[i] = sign | infinity
			}
			low, high := spanVector(&x[0], whole/block)
			require.LessOrEqual(t, low, high)
			s := newShares(fp16.Bits(key(fp16.Bits(high))).Float32())
			quickExp(&room[0], &x[0], whole/block, &s, &quick)
			require.InEpsilon(t, total, s.total*math.Exp(s.power*math.Ln2-s.top), ofTotal, "%s %d", name, n)
		}
	}
	require.Greater(t, decided, all*9/10)
	bad := []fp16.Bits{0, 0x7e00, 0x3c00}
	for _, b := range []fp16.Bits{0x7e00, 0xfe00, 0x7c00} {
		bad[1] = b
		require.False(t, Softmax(make([]fp16.Bits, 3), bad, make([]float32, 16), make([]fp16.Bits, 32)), "%x", b)
	}
}

// softmaxInDoubles returns the softmax of x, the total, and room for Softmax.
func softmaxInDoubles(x []fp16.Bits) (y []fp16.Bits, total float64, room []float32) {
	span := NewSpan()
	span.Add(x)
	_, high := span.Ends()
	var sums Sums
	room, y = make([]float32, (len(x)+block-1)/block*block), make([]fp16.Bits, len(x))
	sums.Exp(room, x, float64(high.Float32()))
	total = sums.Total()
	Divide(y, room, total)
	return y, total, room
}

// BenchmarkSoftmax is ns an element of lanes in the cache, beside the same in float64. On two cores of a Zen 3 with AVX2
// it takes 0.8 ns where float64 takes 2.7. Its floor there is 0.55, that of its three kernels alone. ONNX Runtime takes
// 0.45 for float32.
func BenchmarkSoftmax(b *testing.B) {
	for _, n := range []int{256, 4096} {
		x, out, room := make([]fp16.Bits, n), make([]fp16.Bits, n), make([]float32, n)
		for i := range x {
			x[i] = fp16.FromFloat64(float64(i*7919%127-63) / 64)
		}
		report := func(b *testing.B) {
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/element")
		}
		b.Run(fmt.Sprint("float32/", n), func(b *testing.B) {
			if machine != simd.AVX2 {
				b.Skip("this processor computes in float64")
			}
			for b.Loop() {
				Softmax(out, x, room, nil)
			}
			report(b)
		})
		b.Run(fmt.Sprint("float64/", n), func(b *testing.B) {
			for b.Loop() {
				var sums Sums
				sums.Exp(room, x, 63.0/64)
				Divide(out, room, sums.Total())
			}
			report(b)
		})
	}
}

// BenchmarkNormalize is ns an element of layer_norm's second pass in the cache.
func BenchmarkNormalize(b *testing.B) {
	const n = 768
	x, gamma, out := make([]fp16.Bits, n), make([]fp16.Bits, n), make([]fp16.Bits, n)
	for i := range x {
		x[i], gamma[i] = fp16.FromFloat64(float64(i*7919%127-63)/64), fp16.FromFloat64(float64(i%9)/8)
	}
	change := NewScaled(0.01, 1.7)
	for b.Loop() {
		change.Normalize(out, x, gamma, gamma)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/element")
}
