//go:build amd64 || arm64

package fp16

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/fp16/internal/fpenv"
)

// altered runs f in a floating-point mode that Go never sets.
func altered(f func()) (inside uint32) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	old := fpenv.Get()
	fpenv.Set(fpenv.Altered)
	f()
	inside = fpenv.Get()
	fpenv.Set(old)
	return inside
}

// TestControlRegister compares conversions in an altered mode with those in the default
// mode.
func TestControlRegister(t *testing.T) {
	src := floats(neighborhoods())
	half, wide, rounded := make([]Bits, len(src)), make([]float32, 1<<16), make([]float32, len(src))
	wantHalf, wantWide, wantRounded := make([]Bits, len(src)), make([]float32, 1<<16), make([]float32, len(src))
	eachKernel(t, func(t *testing.T) {
		for i := range half {
			half[i], rounded[i] = 0, 0
		}
		clear(wide)
		Encode(wantHalf, src)
		Decode(wantWide, allHalves())
		Round(wantRounded, src)

		halves := allHalves()
		one, tiny := float32(1), float32(0x1p-30)
		var sum float32
		inside := altered(func() {
			sum = one + tiny // above one only if rounding is upward
			Encode(half, src)
			Decode(wide, halves)
			Round(rounded, src)
		})
		require.Greater(t, sum, float32(1), "the mode was not altered: the test proves nothing")
		require.Equal(t, uint32(fpenv.Altered), inside&fpenv.Altered, "the caller's mode was not restored")
		sameHalves(t, wantHalf, half)
		sameFloats(t, wantWide, wide)
		sameFloats(t, wantRounded, rounded)
	})
}
