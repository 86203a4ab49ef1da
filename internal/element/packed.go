package element

import "github.com/anekit/anekit/ane/mil"

// Unpack returns n integers of type d, narrower than 8 bits, that are stored without gaps: the first in the low bits
// of the first byte. Each takes a byte of the result, signed ones in two's complement. It panics if packed is shorter
// than n elements.
func Unpack(d mil.DType, packed []byte, n int) []byte {
	out := make([]byte, n)
	UnpackBits(out, packed, d.Bits())
	if !d.Unsigned() {
		shift := 8 - d.Bits()
		for i, b := range out {
			out[i] = byte(int8(b<<shift) >> shift)
		}
	}
	return out
}

// UnpackBits fills dst with unsigned numbers of 1 to 8 bits each, like Unpack.
func UnpackBits(dst, packed []byte, bits int) {
	mask := byte(1<<bits - 1)
	for i := range dst {
		at, low := i*bits/8, i*bits%8
		b := packed[at] >> low
		if low+bits > 8 {
			b |= packed[at+1] << (8 - low)
		}
		dst[i] = b & mask
	}
}

// Pack is the inverse of Unpack: it stores the low bits of each byte of elements without gaps, and tells how many bits
// of the last byte are unused.
func Pack(d mil.DType, elements []byte) (packed []byte, unused int) {
	bits := d.Bits()
	total := len(elements) * bits
	packed = make([]byte, (total+7)/8)
	for i, e := range elements {
		e &= byte(1<<bits - 1)
		at, low := i*bits/8, i*bits%8
		packed[at] |= e << low
		if low+bits > 8 {
			packed[at+1] |= e >> (8 - low)
		}
	}
	return packed, len(packed)*8 - total
}
