package fp16

import "math"

// Float32 encodings that separate the cases of the conversion to a half.
const (
	sign32 = 1 << 31
	inf32  = 0xff << 23
	over32 = (127 + 16) << 23 // 65536: this and above is an infinity or NaN
	norm32 = (127 - 14) << 23 // 0x1p-14, the smallest normal value: below lie subnormal halves
	rebias = (127 - 15) << 23 // difference of the exponent biases
)

// FromFloat32 rounds f to the nearest half, ties to even. The package comment has the
// rules for overflow, subnormals and NaNs.
func FromFloat32(f float32) Bits {
	u := math.Float32bits(f)
	sign := Bits(u >> 16 & signMask)
	u &^= sign32
	switch {
	case u >= over32:
		if u <= inf32 {
			return sign | Inf
		}
		return sign | NaN | Bits(u>>13&fractionMask)
	case u >= norm32:
		// A carry out of the fraction increments the exponent, at most to that of Inf.
		return sign | Bits((u-rebias+0xfff+u>>13&1)>>13)
	}
	// The fraction with its hidden bit, in units of SmallestSubnormal. A shift of more than 25 leaves zero.
	m, shift := uint64(u&(1<<23-1)|1<<23), 126-u>>23
	half := uint64(1)<<(shift-1) - 1
	return sign | Bits((m+half+m>>shift&1)>>shift)
}

// Float64 encodings between which truncation to float32 gives a normal number.
const (
	inf64  = 0x7ff << 52
	over64 = (1023 + 16) << 52 // 65536
	tiny64 = (1023 - 26) << 52 // a quarter of SmallestSubnormal: below is zero
)

// FromFloat64 rounds f to the nearest half, ties to even, in a single rounding:
// converting to float32 first would round twice and miss ties.
func FromFloat64(f float64) Bits {
	u := math.Float64bits(f)
	sign := Bits(u >> 48 & signMask)
	u &^= 1 << 63
	switch {
	case u > inf64:
		return sign | NaN | Bits(u>>42&fractionMask)
	case u >= over64:
		return sign | Inf
	case u < tiny64:
		return sign
	}
	// Truncate to float32 and mark lost bits in the last place ("round to odd").
	// A float32 has more than two bits beyond a half, so the mark keeps a value above
	// a tie above it, and never makes an exact value a tie.
	short := uint32(u>>29 - (1023-127)<<23)
	if u&(1<<29-1) != 0 {
		short |= 1
	}
	return sign | FromFloat32(math.Float32frombits(short))
}

// Float32 returns the value of b, which float32 holds exactly. A signaling NaN becomes
// quiet.
func (b Bits) Float32() float32 {
	sign := uint32(b&signMask) << 16
	u := uint32(b&^signMask) << 13
	switch {
	case b&exponentMask == 0: // zero or subnormal; the product is exact
		return math.Float32frombits(sign | math.Float32bits(float32(b&fractionMask)*SmallestSubnormal))
	case b.IsNaN():
		u |= inf32 | quietBit<<13
	case b.IsInf():
		u = inf32
	default:
		u += rebias
	}
	return math.Float32frombits(sign | u)
}
