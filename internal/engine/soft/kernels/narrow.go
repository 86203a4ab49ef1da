package kernels

import (
	"math"

	"github.com/anekit/anekit/ane/mil"
)

// toOdd rounds f to float32 so that inexact results have an odd last bit.
// Rounding that to a format at least two bits narrower gives the correctly
// rounded value of f (Boldo and Melquiond, "Emulation of FMA and correctly
// rounded sums: proved algorithms using rounding to odd", 2008).
func toOdd(f float64) float32 {
	b := math.Float64bits(f)
	if b>>52&0x7ff-897 < 253 { // from the least normal float32 to 2^127: no jump depends on what is dropped
		const dropped = 1<<29 - 1
		return math.Float32frombits(uint32(b>>32)&(1<<31) | uint32((b&(1<<63-1)-896<<52)>>29) |
			uint32((b&dropped+dropped)>>29))
	}
	return toOddRare(f)
}

// toOddRare is toOdd for every number.
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

// narrow prepares a float64 for storing as d. For fp16 it rounds to odd, so
// that the second rounding, to fp16, gives the same result as a single
// rounding.
func narrow(d mil.DType, f float64) float32 {
	if d == mil.FP16 {
		return toOdd(f)
	}
	return float32(f)
}
