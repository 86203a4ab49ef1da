package picture

import (
	"encoding/binary"

	"github.com/anekit/anekit/ane/fp16"
)

// chunkSize is the number of samples that are converted at a time, on the stack.
const chunkSize = 256

// encode writes samples of 16 bits, which are step bytes apart, times scale to dst.
func encode(dst []fp16.Bits, src []uint8, step int, scale float32) {
	var single [chunkSize]float32
	for len(dst) > 0 {
		n := min(len(dst), chunkSize)
		for i := range single[:n] {
			single[i] = float32(binary.BigEndian.Uint16(src[i*step:])) * scale
		}
		fp16.Encode(dst, single[:n])
		if dst = dst[n:]; len(dst) > 0 {
			src = src[n*step:]
		}
	}
}

// decode16 sets samples of 16 bits, which are step bytes apart, from values times scale, rounded half
// up and limited to the range of a sample.
func decode16(dst []uint8, step int, src []fp16.Bits, scale float32) {
	var single [chunkSize]float32
	for len(src) > 0 {
		n := min(len(src), chunkSize)
		fp16.Decode(single[:n], src[:n])
		for i, v := range single[:n] {
			binary.BigEndian.PutUint16(dst[i*step:], uint16(limited(v*scale, 0xffff)))
		}
		if src = src[n:]; len(src) > 0 {
			dst = dst[n*step:]
		}
	}
}

// limited rounds half up and limits to 0..top. NaN becomes 0.
func limited(v, top float32) float32 {
	if !(v > 0) {
		return 0
	}
	return min(float32(int64(min(v, top)+0.5)), top)
}
