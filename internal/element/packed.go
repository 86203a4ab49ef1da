package element

import "github.com/anekit/anekit/ane/mil"

// Bits returns the number of 1 to 8 bits at position i of numbers that are stored without gaps: the first in the low
// bits of the first byte.
func Bits(packed []byte, i, bits int) byte {
	at, low := i*bits/8, i*bits%8
	b := packed[at] >> low
	if low+bits > 8 {
		b |= packed[at+1] << (8 - low)
	}
	return b & byte(1<<bits-1)
}

// Unpack returns n integers of type d, narrower than 8 bits, that are stored as Bits reads them. Each takes a byte of
// the result, signed ones in two's complement. It panics if packed is shorter than n elements.
func Unpack(d mil.DType, packed []byte, n int) []byte {
	out, bits := make([]byte, n), d.Bits()
	for i := range out {
		out[i] = Bits(packed, i, bits)
	}
	if d.Unsigned() {
		return out
	}
	shift := 8 - bits
	for i, b := range out {
		out[i] = byte(int8(b<<shift) >> shift)
	}
	return out
}
