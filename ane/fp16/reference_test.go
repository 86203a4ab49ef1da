package fp16

import "math"

// The reference is independent of the package: it computes in float64, where every step
// is exact, and looks encodings up by value.

// referenceValue is the value of a finite or infinite half, from its definition.
func referenceValue(b Bits) float64 {
	e, m := int(b>>10&31), float64(b&1023)
	v := math.Ldexp(1+m/1024, e-15)
	switch e {
	case 0:
		v = math.Ldexp(m/1024, -14)
	case 31:
		v = math.Inf(1)
	}
	if b>>15 == 1 {
		v = -v
	}
	return v
}

// referenceBits maps the value of each half without sign to its encoding.
var referenceBits = func() map[float64]Bits {
	m := make(map[float64]Bits)
	for b := Bits(0); b <= 0x7c00; b++ {
		m[referenceValue(b)] = b
	}
	return m
}()

// referenceRound rounds f, which is not a NaN, to a half. Dividing by a power of
// two and RoundToEven are exact for all values that do not round to zero.
func referenceRound(f float64) Bits {
	var sign Bits
	if math.Signbit(f) {
		sign, f = 0x8000, -f
	}
	if f >= 65520 {
		return sign | 0x7c00
	}
	_, e := math.Frexp(f) // f < 2^e
	ulp := math.Ldexp(1, max(e-1, -14)-10)
	b, ok := referenceBits[math.RoundToEven(f/ulp)*ulp]
	if !ok {
		panic("BUG: the reference rounded to a value that is not a half")
	}
	return sign | b
}

// referenceNaN applies the NaN rule to the bits of a float32 NaN, written as text.
func referenceNaN(u uint32) Bits {
	sign, payload := u/(1<<31), u%(1<<23)
	return Bits(sign*32768 + 31*1024 + 512 + payload/(1<<13)%512)
}
