package numbers

import (
	"math"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/numerics"
)

// block is the number of halves in one step of the assembly.
const block = 16

// most is how many halves one call of assembly takes, during which a goroutine cannot be preempted: some 10 us.
const most = 1 << 14

// number is the value of a half: its bits as a float32 have the exponent too low by 112, also of a subnormal half.
func number(h fp16.Bits) float32 {
	f := math.Float32frombits(uint32(h&0x7fff)<<13) * 0x1p112
	return math.Float32frombits(math.Float32bits(f) | uint32(h&0x8000)<<16)
}

// Decode writes the values of src to dst, which is as long.
func Decode(dst []float32, src []fp16.Bits) {
	at := 0
	if machine.vector {
		for at+block <= len(src) {
			n := min((len(src)-at)/block*block, most)
			_ = dst[at+n-1]
			decodeVector(&dst[at], &src[at], n/block)
			at += n
		}
	}
	for ; at < len(src); at++ {
		dst[at] = number(src[at])
	}
}

// rules are those of rounding half away, and to even.
func rules(away bool) numerics.Rules {
	if away {
		return numerics.Exponent31 | numerics.HalfAway
	}
	return numerics.Exponent31
}

// Encode rounds src to dst, which is as long. An element of src stands for an exact value: it is that value, or the
// value rounded to odd.
func Encode(dst []fp16.Bits, src []float32, away bool) {
	at := 0
	if machine.vector {
		for at+block <= len(src) {
			n := min((len(src)-at)/block*block, most)
			_ = dst[at+n-1]
			if away {
				encodeAway(&dst[at], &src[at], n/block)
			} else {
				encodeEven(&dst[at], &src[at], n/block)
			}
			at += n
		}
	}
	rules(away).Encode(dst[at:], src[at:])
}
