package decoderbench

import "encoding/binary"

// touch reads b and returns a sum of it.
func touch(b []byte) uint64 {
	var sums [4]uint64
	for len(b) >= 32 {
		sums[0] += binary.LittleEndian.Uint64(b)
		sums[1] += binary.LittleEndian.Uint64(b[8:])
		sums[2] += binary.LittleEndian.Uint64(b[16:])
		sums[3] += binary.LittleEndian.Uint64(b[24:])
		b = b[32:]
	}
	return sums[0] + sums[1] + sums[2] + sums[3]
}
