package halves

import (
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
