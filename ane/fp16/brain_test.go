package fp16

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every bfloat16 is rounded as its float32 is, by both implementations.
func TestEncodeBrainRoundsEveryValue(t *testing.T) {
	src := make([]Brain, 1<<16)
	want := make([]Bits, len(src))
	for i := range src {
		src[i] = Brain(i)
		want[i] = FromFloat32(src[i].float32())
	}
	eachKernel(t, func(t *testing.T) {
		got := make([]Bits, len(src))
		n, fine := EncodeBrain(got, src)
		require.Equal(t, len(src), n)
		require.False(t, fine)
		sameHalves(t, want, got)
	})
}

// Lengths around the steps of the kernels, at odd places, and no element beyond.
func TestEncodeBrainKeepsToItsLength(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	eachKernel(t, func(t *testing.T) {
		for n := range 100 {
			src := make([]Brain, n+2)
			for i := range src {
				src[i] = Brain(r.Uint32())
			}
			got := make([]Bits, n+3)
			for i := range got {
				got[i] = 0x1234
			}
			done, fine := EncodeBrain(got[1:n+1], src[1:])
			require.Equal(t, n, done)
			require.Equal(t, Finite(got[1:n+1]), fine)
			require.EqualValues(t, 0x1234, got[0])
			require.EqualValues(t, 0x1234, got[n+1])
			for i := range n {
				require.Equal(t, FromFloat32(src[i+1].float32()), got[i+1], "element %d of %d", i, n)
			}
		}
	})
}

// EncodeFinite is Encode, and it and EncodeBrain say of each length and place what Finite says.
func TestEncodeSaysWhatFiniteSays(t *testing.T) {
	top := math.Float32frombits(0x477fefff) // becomes 65504
	r := rand.New(rand.NewPCG(3, 4))
	eachKernel(t, func(t *testing.T) {
		for n := range 100 {
			wide, short := make([]float32, n), make([]Brain, n)
			for i := range n {
				wide[i], short[i] = top-2*top*float32(r.IntN(2)), Brain(0x477f|r.IntN(2)<<15)
			}
			half := make([]Bits, n)
			for at := -1; at < n; at++ {
				for _, odd := range []uint32{0x477ff000, 0x47800000, 0x7f800000, 0x7fc00001, 0x7f810000} {
					odd |= r.Uint32N(2) << 31
					was, before := float32(0), Brain(0)
					if at >= 0 {
						was, before = wide[at], short[at]
						wide[at], short[at] = math.Float32frombits(odd), Brain(odd>>16)
					}
					done, fine := EncodeFinite(half, wide)
					require.Equal(t, n, done)
					require.Equal(t, at < 0, fine, "%x at %d of %d", odd, at, n)
					sameHalves(t, encoded(wide), half)
					_, fine = EncodeBrain(half, short)
					require.Equal(t, at < 0 || odd<<1>>17 == 0x477f, fine, "%x at %d of %d", odd, at, n)
					if at >= 0 {
						wide[at], short[at] = was, before
					}
				}
			}
		}
		long := make([]float32, 3*looked+5) // several parts
		half := make([]Bits, len(long))
		for _, at := range []int{0, looked - 1, looked, len(long) - 1} {
			long[at] = 1e6
			_, fine := EncodeFinite(half, long)
			require.False(t, fine)
			long[at] = 0
			short := make([]Brain, len(long))
			short[at] = 0x7f80
			_, fine = EncodeBrain(half, short)
			require.False(t, fine)
		}
		_, fine := EncodeFinite(half, long)
		require.True(t, fine)
	})
}

func encoded(src []float32) []Bits {
	half := make([]Bits, len(src))
	Encode(half, src)
	return half
}

func TestEncodeBrainAllocatesNothing(t *testing.T) {
	dst, src := make([]Bits, 100), make([]Brain, 100)
	require.Zero(t, testing.AllocsPerRun(10, func() { EncodeBrain(dst, src) }))
}
