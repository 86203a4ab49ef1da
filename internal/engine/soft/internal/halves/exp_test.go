package halves

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/fp16"
)

// TestExp compares with the math package; the kernels with each other.
func TestExp(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for _, n := range lengths {
		x, _ := values(r, n)
		top := fp16.FromFloat32(float32(r.NormFloat64() * 4))
		for i, b := range x {
			if i%2 == 0 {
				x[i] = fp16.FromFloat32(top.Float32() - float32(r.ExpFloat64()*3))
			} else if b.IsNaN() || b.Float32() > top.Float32() {
				x[i] = top
			}
		}
		var want Sums
		room := make([]float32, (n+block-1)/block*block)
		inGo(func() { want.Exp(room, x, float64(top.Float32())) })
		for i, b := range x {
			d := float64(b.Float32()) - float64(top.Float32())
			require.InEpsilon(t, max(math.Exp(d), 1e-37), max(float64(room[i]), 1e-37), 0x1p-23, d)
			if d > -100 {
				require.InEpsilon(t, math.Exp(d), exp(d), 0x1p-50, d)
			}
		}
		each(t, func(t *testing.T) {
			var got Sums
			same := make([]float32, len(room))
			got.Exp(same, x, float64(top.Float32()))
			require.Equal(t, room, same)
			require.Equal(t, want, got)
			total, one := max(got.Total(), 1), make([]fp16.Bits, n)
			Divide(one, room, total)
			for i, h := range one {
				require.Equal(t, fp16.FromFloat64(float64(room[i])/total), h)
			}
		})
	}
}

func TestNormalize(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for _, n := range lengths {
		x, _ := values(r, n)
		gamma, beta := make([]fp16.Bits, n), make([]fp16.Bits, n)
		for i := range gamma {
			gamma[i], beta[i] = fp16.Bits(r.Uint32()), fp16.Bits(r.Uint32()&0xbfff)
		}
		for _, mean := range []float64{0, 1.5, -1000.0 / 3, math.NaN(), math.Inf(1)} {
			for _, scale := range []float64{1, 1.0 / 3, 316, 0x1p-20, 0x1p18} {
				var want Moments
				out := make([]fp16.Bits, n)
				change := NewScaled(mean, scale)
				inGo(func() {
					want.Add(x, mean)
					change.Normalize(out, x, gamma, beta)
				})
				stretched, alone := make([]fp16.Bits, n), make([]fp16.Bits, n)
				inGo(func() {
					change.Normalize(stretched, x, gamma, nil)
					change.Normalize(alone, x, nil, nil)
				})
				each(t, func(t *testing.T) {
					var got Moments
					got.Add(x, mean)
					for i := range block {
						sameFloat(t, want.Values[i], got.Values[i])
						sameFloat(t, want.Squares[i], got.Squares[i])
					}
					other := make([]fp16.Bits, n)
					change.Normalize(other, x, gamma, beta)
					same(t, out, other, "normalize")
					change.Normalize(other, x, gamma, nil)
					same(t, stretched, other, "normalize without beta")
					change.Normalize(other, x, nil, nil)
					same(t, alone, other, "normalize without gamma")
				})
			}
		}
	}
}

func sameFloat(t *testing.T, want, got float64) {
	t.Helper()
	if !math.IsNaN(want) || !math.IsNaN(got) {
		require.Equal(t, want, got)
	}
}

// TestRoundingOfNormalizeIsExact has results near the middle between two halves, where float32 cannot decide.
func TestRoundingOfNormalizeIsExact(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	const n = 4096
	x, gamma, beta := make([]fp16.Bits, n), make([]fp16.Bits, n), make([]fp16.Bits, n)
	want, got := make([]fp16.Bits, n), make([]fp16.Bits, n)
	for range 300 {
		mean, scale := math.Ldexp(r.NormFloat64(), r.IntN(20)-10), math.Ldexp(1+r.Float64(), r.IntN(12)-6)
		if r.IntN(2) == 0 { // short numbers make exact ties
			mean, scale = float64(fp16.FromFloat64(mean).Float32()), math.Ldexp(1, r.IntN(12)-6)
		}
		for i := range x {
			x[i] = fp16.FromFloat64(mean + math.Ldexp(r.NormFloat64(), r.IntN(24)-16))
			gamma[i] = fp16.FromFloat64(math.Ldexp(1+r.Float64(), r.IntN(12)-6))
			beta[i] = fp16.FromFloat64(math.Ldexp(r.NormFloat64(), r.IntN(24)-12))
		}
		change := NewScaled(mean, scale)
		for _, list := range [][2][]fp16.Bits{{gamma, beta}, {gamma, nil}, {}} {
			inGo(func() { change.Normalize(want, x, list[0], list[1]) })
			change.Normalize(got, x, list[0], list[1])
			same(t, want, got, "normalize")
		}
	}
}
