package numerics

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/fp16"
)

// spread is how the results of a mode lie around the sums in float64: the share of those that equal the sum rounded
// once to nearest even, and the relative error in the Euclidean norm.
func spread(r Rules, k, lanes int, draw func(*rand.Rand) float64) (exact, relative float64) {
	random := rand.New(rand.NewPCG(uint64(k), 1))
	x, w := make([]fp16.Bits, k), make([]fp16.Bits, k)
	var off, norm float64
	for range lanes {
		sum := 0.0
		for i := range x {
			x[i], w[i] = fp16.FromFloat32(float32(draw(random))), fp16.FromFloat32(float32(draw(random)))
			sum += float64(x[i].Float32()) * float64(w[i].Float32())
		}
		got := r.MAC(x, w, 0)
		if got == Rules(0).Round(sum) {
			exact++
		}
		d := float64(got.Float32()) - sum
		off, norm = off+d*d, norm+sum*sum
	}
	return exact / float64(lanes), math.Sqrt(off / norm)
}

// The modes m1 and m2 give sums of random products the distribution that the M1, the M1 Max and the M2 Max gave them
// under Linux (JW). The figures are of the receipts 2026-09-30-t6021-island-bmm, for K = 375 and 128, and
// 2026-09-17-ffn-placement, for K = 1024; no bits are published.
func TestDistributionUnderLinux(t *testing.T) {
	uniform := func(r *rand.Rand) float64 { return 2*r.Float64() - 1 }
	normal := func(deviation float64) func(*rand.Rand) float64 {
		return func(r *rand.Rand) float64 { return max(-3, min(3, deviation*r.NormFloat64())) }
	}
	const lanes = 20000
	// c-pv: 360250, 360632 and 360392 of 384000 elements are exact; a-kt and a-attn-p1, K = 128: 0.938 to 0.9386.
	for _, k := range []int{375, 128} {
		exact, _ := spread(M2.Rules(), k, lanes, uniform)
		t.Logf("K = %d: %.2f %% exact", k, 100*exact)
		require.InDelta(t, 0.938, exact, 0.006, "K = %d", k)
	}
	_, relative := spread(M2.Rules(), 128, lanes, normal(0.5))
	t.Logf("m2, K = 128: %.3g", relative)
	require.InDelta(t, 0.000208, relative, 0.000004)
	// 96 linear programs of the M1 and the M1 Max, inputs of deviation 1: 0.0002071 to 0.0002086.
	_, relative = spread(M1.Rules(), 1024, 4000, normal(1))
	t.Logf("m1, K = 1024: %.3g", relative)
	require.InDelta(t, 0.0002078, relative, 0.000006)
}
