package fp16

import "math"

// Bits is a raw IEEE 754 binary16 value: one sign bit, five exponent bits with
// bias 15, ten fraction bits. Comparing two Bits with == compares encodings:
// NaNs may be equal and the two zeros differ.
type Bits uint16

// Limits of binary16 (IEEE 754-2019, table 3.5: p = 11, emax = 15).
const (
	MaxValue          = 0x1.ffcp+15 // 65504, the largest finite value
	SmallestSubnormal = 0x1p-24     // about 5.9605e-08, the smallest positive value
)

// Encodings of the special values.
const (
	Inf Bits = 0x7c00 // positive infinity
	NaN Bits = 0x7e00 // the quiet NaN with an empty payload; test with IsNaN
)

const (
	signMask     = 0x8000 // of a half
	exponentMask = 0x7c00
	fractionMask = 0x03ff
	quietBit     = 0x0200 // set in a NaN that raises no exception
)

// IsNaN reports whether b is a NaN of any sign and payload.
func (b Bits) IsNaN() bool { return b&^signMask > exponentMask }

// IsInf reports whether b is an infinity of either sign.
func (b Bits) IsInf() bool { return b&^signMask == exponentMask }

// Brain is a raw bfloat16 value, the type BF16 of weight files: the upper 16 bits of a float32. It has the range of a
// float32, so encoding turns larger magnitudes than a half can hold into infinities. Magnitudes below half of the
// smallest half become zeros.
type Brain uint16

// float32 returns the value of b, which float32 holds exactly.
func (b Brain) float32() float32 { return math.Float32frombits(uint32(b) << 16) }
