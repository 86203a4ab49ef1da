package numerics

import (
	"math"

	"github.com/anekit/anekit/ane/fp16"
)

const (
	signMask     = 0x8000 // of a half
	exponentMask = 0x7c00
)

// Number returns the value of a half in which the exponent 31 is an ordinary one, as in every mode but Reference.
// Infinity is 65536, 0x7E00 is 98304, 0x7FFF is 131008 (MS 8.4).
func Number(b fp16.Bits) float32 {
	if b&exponentMask != exponentMask {
		return b.Float32()
	}
	// 1024+m in units of 2^6: the half's 10 bits of fraction under the exponent 16.
	return math.Float32frombits(uint32(b&signMask)<<16 | (127+16)<<23 | uint32(b&0x3ff)<<13)
}

// Value returns the value of a half: Number with Exponent31, else IEEE's.
func (r Rules) Value(b fp16.Bits) float32 {
	if r.Has(Exponent31) {
		return Number(b)
	}
	return b.Float32()
}

// Decode writes the values of src to dst, as many as the shorter has.
func (r Rules) Decode(dst []float32, src []fp16.Bits) {
	n := fp16.Decode(dst, src)
	for i := 0; i < n && r.Has(Exponent31); i++ {
		if src[i]&exponentMask == exponentMask {
			dst[i] = Number(src[i])
		}
	}
}

// Round rounds f to fp16 once: half away from zero with HalfAway, else to nearest even. Subnormals are kept; magnitudes
// from 65520 become infinite. With Exponent31, 0 has no sign and a NaN, which no chip makes, becomes infinite.
func (r Rules) Round(f float64) fp16.Bits {
	b := math.Float64bits(f)
	sign, mag := fp16.Bits(b>>48&signMask), b&^(1<<63)
	e := int(mag>>52) - 1023
	var h uint64
	switch {
	case mag > 0x7ff<<52: // NaN
		if r.Has(Exponent31) {
			return sign | fp16.Inf
		}
		return sign | fp16.NaN
	case e >= 16:
		h = exponentMask
	case e >= -14:
		h = r.shift(mag-(1023-15)<<52, 42)
	case e >= -25:
		h = r.shift(mag&(1<<52-1)|1<<52, uint(42-14-e))
	}
	if h == 0 && r.Has(Exponent31) {
		return 0
	}
	return sign | fp16.Bits(min(h, exponentMask))
}

// shift returns v / 2^n, rounded as the rules say; n is at least 1.
func (r Rules) shift(v uint64, n uint) uint64 {
	if r.Has(HalfAway) {
		return (v + 1<<(n-1)) >> n
	}
	return (v + 1<<(n-1) - 1 + v>>n&1) >> n
}

// Encode rounds src to dst as Round does, as many as the shorter has. An element of src stands for an exact value: it is
// that value, or the value rounded to odd.
func (r Rules) Encode(dst []fp16.Bits, src []float32) {
	n := min(len(dst), len(src))
	if r.Has(HalfAway) {
		for i, f := range src[:n] {
			b := math.Float32bits(f)
			if mag := b &^ (1 << 31); mag-(127-14)<<23 < 30<<23 { // a normal half, before rounding
				dst[i] = fp16.Bits(b>>16&signMask) | fp16.Bits((mag-(127-15)<<23+1<<12)>>13)
			} else {
				dst[i] = r.Round(float64(f))
			}
		}
		return
	}
	fp16.Encode(dst[:n], src[:n])
	for i := 0; i < n && r.Has(Exponent31); i++ {
		if m := dst[i] &^ signMask; m == 0 {
			dst[i] = 0
		} else if m > exponentMask {
			dst[i] = dst[i]&signMask | fp16.Inf
		}
	}
}
