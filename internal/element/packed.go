package element

import "github.com/anekit/anekit/ane/mil"

// Unpack returns n integers of type d, narrower than 8 bits, that are stored without gaps: the first in the low bits
// of the first byte. Each takes a byte of the result, signed ones in two's complement. It panics if packed is shorter
// than n elements.
func Unpack(d mil.DType, packed []byte, n int) []byte {
	out, bits := make([]byte, n), d.Bits()
	mask, shift := byte(1<<bits-1), 8-bits
	for i := range out {
		at, low := i*bits/8, i*bits%8
		b := packed[at] >> low
		if low+bits > 8 {
			b |= packed[at+1] << (8 - low)
		}
		out[i] = b & mask
	}
	if d.Unsigned() {
		return out
	}
	for i, b := range out {
		out[i] = byte(int8(b<<shift) >> shift)
	}
	return out
}
