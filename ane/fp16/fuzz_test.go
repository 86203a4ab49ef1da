package fp16

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzBulk converts any bytes as float32s and as halves, at any offset, and compares
// the bulk functions with the scalar ones.
func FuzzBulk(f *testing.F) {
	f.Add([]byte{}, uint8(0))
	f.Add([]byte{0, 0, 128, 127, 1, 0, 128, 127, 255, 255, 255, 255}, uint8(1)) // Inf, NaNs
	f.Add([]byte{0, 240, 127, 71, 255, 239, 127, 71, 0, 0, 0, 51}, uint8(3))    // 65520, below, 2^-25
	long := make([]byte, 4*67)
	for i := range long {
		long[i] = byte(i * 37)
	}
	f.Add(long, uint8(5))
	f.Fuzz(func(t *testing.T, data []byte, offset uint8) {
		skip := int(offset % 16)
		wide := make([]float32, skip+len(data)/4)[skip:]
		for i := range wide {
			wide[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
		}
		checkEncode(t, wide)

		half := make([]Bits, skip+len(data)/2)[skip:]
		want := make([]float32, len(half))
		for i := range half {
			half[i] = Bits(binary.LittleEndian.Uint16(data[2*i:]))
			want[i] = half[i].Float32()
		}
		got := make([]float32, len(half))
		require.Equal(t, len(half), Decode(got, half))
		sameFloats(t, want, got)
		for i, b := range half {
			if want := b | quietBit; b.IsNaN() {
				require.Equal(t, want, FromFloat32(got[i]))
			} else {
				require.Equal(t, b, FromFloat32(got[i]))
			}
		}
	})
}
