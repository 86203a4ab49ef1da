package fp16

import (
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
		require.Equal(t, len(src), EncodeBrain(got, src))
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
			require.Equal(t, n, EncodeBrain(got[1:n+1], src[1:]))
			require.EqualValues(t, 0x1234, got[0])
			require.EqualValues(t, 0x1234, got[n+1])
			for i := range n {
				require.Equal(t, FromFloat32(src[i+1].float32()), got[i+1], "element %d of %d", i, n)
			}
		}
	})
}

func TestEncodeBrainAllocatesNothing(t *testing.T) {
	dst, src := make([]Bits, 100), make([]Brain, 100)
	require.Zero(t, testing.AllocsPerRun(10, func() { EncodeBrain(dst, src) }))
}
