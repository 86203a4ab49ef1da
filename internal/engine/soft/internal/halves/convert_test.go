package halves

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestToOdd compares with the definition: an exact value stays, any other becomes the
// one of its two neighbours whose last bit is set.
func TestToOdd(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		f := r.NormFloat64() * math.Pow(10, float64(r.IntN(20)-10))
		got := ToOdd(f)
		require.NotEqual(t, f, float64(got), "all 53 bits are used")
		require.EqualValues(t, 1, math.Float32bits(got)&1)
		other := math.Nextafter32(got, float32(math.Inf(1)))
		if float64(got) > f {
			other = math.Nextafter32(got, float32(math.Inf(-1)))
		}
		low, high := min(float64(got), float64(other)), max(float64(got), float64(other))
		require.True(t, low < f && f < high, "%v lies between %v and %v", f, low, high)
		require.Equal(t, got, ToOdd(float64(got)))
	}
	// All exponents, and what is dropped at its ends: both ways of ToOdd have the same bits.
	for e := range uint64(1 << 11) {
		for _, kept := range []uint64{0, 1 << 29, r.Uint64() >> 12, 1<<52 - 1<<29} {
			for _, dropped := range []uint64{0, 1, 1<<28 - 1, 1 << 28, 1<<28 + 1, 1<<29 - 1} {
				f := math.Float64frombits(e<<52 | kept&^(1<<29-1) | dropped)
				require.Equal(t, math.Float32bits(toOddRare(f)), math.Float32bits(ToOdd(f)), "%x", f)
				require.Equal(t, math.Float32bits(toOddRare(-f)), math.Float32bits(ToOdd(-f)), "%x", -f)
			}
		}
	}
}
