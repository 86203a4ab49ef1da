package quotient

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/fp16"
)

// The kernel agrees with the code in Go: also about what is not fine, wherever it is, in slices of all lengths.
func TestNegated(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	some := []fp16.Bits{0, 0x8000, 1, 0x8001, 0x03ff, 0x0400, 0x3c00, 0xbc00, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x7d01}
	for n := range 70 {
		for range 300 {
			a, b := make([]fp16.Bits, n), make([]fp16.Bits, n)
			for i := range a {
				a[i], b[i] = fp16.Bits(0x3000+r.IntN(0x1800)), fp16.Bits(0xb000+r.IntN(0x1800))
			}
			for range r.IntN(3) {
				if n > 0 {
					a[r.IntN(n)], b[r.IntN(n)] = some[r.IntN(len(some))], some[r.IntN(len(some))]
				}
			}
			want, got := make([]fp16.Bits, n), make([]fp16.Bits, n+1)
			fine := portable(want, a, b)
			require.Equal(t, fine, Negated(got[:n], a, b), "%x %x", a, b)
			if fine {
				require.Equal(t, want, got[:n], "%x %x", a, b)
			}
			require.Zero(t, got[n])
		}
	}
	for _, x := range some { // each pair
		for _, y := range some {
			a, b := make([]fp16.Bits, 8), []fp16.Bits{y, y, y, y, y, y, y, y}
			a[3] = x
			want, got := make([]fp16.Bits, 8), make([]fp16.Bits, 8)
			fine := portable(want, a, b)
			require.Equal(t, fine, Negated(got, a, b), "%x %x", x, y)
			if fine {
				require.Equal(t, want, got)
			}
		}
	}
}

func TestNegatedOfLong(t *testing.T) {
	a, b := make([]fp16.Bits, stretch+9), make([]fp16.Bits, stretch+9)
	for i := range a {
		a[i], b[i] = fp16.FromFloat32(float32(i%100)), fp16.FromFloat32(-2)
	}
	dst := make([]fp16.Bits, len(a))
	require.True(t, Negated(dst, a, b))
	for i, h := range dst {
		require.Equal(t, float32(i%100)/2, h.Float32())
	}
	b[stretch+8] = 0
	require.False(t, Negated(dst, a, b))
}

func BenchmarkNegated(b *testing.B) {
	x, y, dst := make([]fp16.Bits, 1<<12), make([]fp16.Bits, 1<<12), make([]fp16.Bits, 1<<12)
	for i := range x {
		x[i], y[i] = 0x3c01, 0x3c03
	}
	b.SetBytes(6 * int64(len(x)))
	for b.Loop() {
		Negated(dst, x, y)
	}
}
