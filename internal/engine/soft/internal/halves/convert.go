package halves

import (
	"math"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/numerics"
)

// Decode writes the values of src to dst, which is as long.
func Decode(dst []float32, src []fp16.Bits, r numerics.Rules) {
	for r.Has(numerics.Exponent31) && Vectors() && len(src) >= block {
		n := whole(len(src))
		_ = dst[n-1]
		decodeVector(&dst[0], &src[0], n/block)
		dst, src = dst[n:], src[n:]
	}
	r.Decode(dst, src)
}

// Encode rounds src to dst, which is as long. An element of src stands for an exact value: it is that value, or the
// value rounded to odd.
func Encode(dst []fp16.Bits, src []float32, r numerics.Rules) {
	for r.Has(numerics.Exponent31) && Vectors() && len(src) >= block {
		n := whole(len(src))
		_ = dst[n-1]
		encodeVector(&dst[0], &src[0], n/block, r.Has(numerics.HalfAway))
		dst, src = dst[n:], src[n:]
	}
	r.Encode(dst, src)
}

// ToOdd rounds f to float32 so that inexact results have an odd last bit. Rounding that to a format at least two bits
// narrower gives the correctly rounded value of f. Proof: Boldo and Melquiond, "Emulation of FMA and correctly rounded
// sums: proved algorithms using rounding to odd", 2008.
func ToOdd(f float64) float32 {
	b := math.Float64bits(f)
	if b>>52&0x7ff-897 < 253 { // from the least normal float32 to 2^127: no jump depends on what is dropped
		const dropped = 1<<29 - 1
		return math.Float32frombits(uint32(b>>32)&(1<<31) | uint32((b&(1<<63-1)-896<<52)>>29) |
			uint32((b&dropped+dropped)>>29))
	}
	return toOddRare(f)
}

// toOddRare is ToOdd for every number.
func toOddRare(f float64) float32 {
	r := float32(f)
	back := float64(r)
	if back == f || f != f || math.IsInf(back, 0) {
		return r
	}
	b := math.Float32bits(r)
	if math.Abs(back) > math.Abs(f) {
		b-- // toward zero
	}
	return math.Float32frombits(b | 1)
}
