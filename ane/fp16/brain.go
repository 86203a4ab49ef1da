package fp16

import "math"

// Brain is a raw bfloat16 value, the type BF16 of weight files: the upper 16 bits of a float32. It has the range of a
// float32, so encoding turns larger magnitudes than a half can hold into infinities. Magnitudes below half of the
// smallest half become zeros.
type Brain uint16

// float32 returns the value of b, which float32 holds exactly.
func (b Brain) float32() float32 { return math.Float32frombits(uint32(b) << 16) }
