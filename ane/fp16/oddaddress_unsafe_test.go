//go:build amd64 || arm64

package fp16

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// TestOddAddresses converts at byte offsets that Go slices of these types normally do
// not have, but data of a mapped file may.
func TestOddAddresses(t *testing.T) {
	if Accelerated() == portable {
		t.Skip("this processor lacks F16C; run on one that has it, or on arm64")
	}
	const n = 70
	src := floats(neighborhoods()[1000 : 1000+n])
	want := make([]Bits, n)
	encodePortable(want, src)
	wantWide := make([]float32, n)
	decodePortable(wantWide, want)
	for offset := range 8 {
		wideBytes, halfBytes := make([]byte, 4*n+8), make([]byte, 2*n+8)
		wide := unsafe.Pointer(&wideBytes[offset])
		half := unsafe.Pointer(&halfBytes[offset])
		copy(wideBytes[offset:], unsafe.Slice((*byte)(unsafe.Pointer(&src[0])), 4*n))
		encodeVector((*Bits)(half), (*float32)(wide), n)
		require.Equal(t, unsafe.Slice((*byte)(unsafe.Pointer(&want[0])), 2*n), halfBytes[offset:offset+2*n])
		decodeVector((*float32)(wide), (*Bits)(half), n)
		require.Equal(t, unsafe.Slice((*byte)(unsafe.Pointer(&wantWide[0])), 4*n), wideBytes[offset:offset+4*n])
	}
}
