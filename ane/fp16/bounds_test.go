package fp16

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Elements around the converted slices keep this pattern.
const (
	guardHalf  Bits    = 0x5a5a
	guardFloat float32 = 12345.678
)

// framed returns n elements at the given offset of an array whose other elements
// hold a guard, and a function that fails the test if one of those changed.
func framed[T comparable](n, offset int, guard T) ([]T, func(t *testing.T)) {
	all := make([]T, offset+n+64)
	for i := range all {
		all[i] = guard
	}
	return all[offset : offset+n : offset+n], func(t *testing.T) {
		t.Helper()
		for i, v := range all {
			if v != guard && (i < offset || i >= offset+n) {
				require.Equal(t, guard, v, "element %d outside of [%d,%d) written", i, offset, offset+n)
			}
		}
	}
}

// TestLengthsAndOffsets converts every length up to 200 at every position of source
// and destination in a 64-byte line, and checks the elements around the slices.
func TestLengthsAndOffsets(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	values := randomFloats(r, 200)
	halves := make([]Bits, 200)
	for i := range halves {
		halves[i] = Bits(r.Uint32())
	}
	eachKernel(t, func(t *testing.T) {
		for n := range 201 {
			for offset := range 32 {
				wide, wideIntact := framed(n, offset%16, guardFloat)
				half, halfIntact := framed(n, 31-offset, guardHalf)

				copy(wide, values)
				require.Equal(t, n, Encode(half, wide))
				wantHalf := make([]Bits, n)
				encodePortable(wantHalf, values[:n])
				sameHalves(t, wantHalf, half)
				wideIntact(t)
				halfIntact(t)

				copy(half, halves)
				require.Equal(t, n, Decode(wide, half))
				want := make([]float32, n)
				decodePortable(want, halves[:n])
				sameFloats(t, want, wide)
				wideIntact(t)
				halfIntact(t)

				other, otherIntact := framed(n, 15-offset%16, guardFloat)
				copy(wide, values)
				Round(other, wide)
				roundPortable(want, values[:n])
				sameFloats(t, want, other)
				Round(wide, wide)
				sameFloats(t, want, wide)
				wideIntact(t)
				otherIntact(t)
			}
		}
	})
}
