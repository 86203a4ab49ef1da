package fp16

import (
	"math"
	"math/rand/v2"
)

// neighborhoods returns float32 encodings near decisions of rounding: for every half
// its value, the middle to the next half, and the float32 on both sides of each; then
// NaNs of many payloads and the limits of float32.
func neighborhoods() []uint32 {
	var out []uint32
	around := func(f float64) {
		u := math.Float32bits(float32(f))
		out = append(out, u-1, u, u+1)
	}
	for i := range 1 << 16 {
		b := Bits(i)
		if b&^signMask >= Inf {
			continue
		}
		low := referenceValue(b)
		high := referenceValue(b + 1)
		if (b+1)&^signMask == Inf {
			high = math.Copysign(65536, low)
		}
		around(low)
		around((low + high) / 2)
	}
	for _, sign := range []uint32{0, 1 << 31} {
		for shift := range 23 {
			p := uint32(1) << shift
			for _, m := range []uint32{p, p - 1, p | 1<<22, 1<<23 - p} {
				out = append(out, sign|0x7f800000|m) // NaNs, and infinity for m = 0
			}
		}
		for e := range uint32(256) {
			out = append(out, sign|e<<23, sign|e<<23|1, sign|e<<23|(1<<23-1))
		}
	}
	return out
}

// floats converts encodings to float32s without changing NaNs.
func floats(us []uint32) []float32 {
	out := make([]float32, len(us))
	for i, u := range us {
		out[i] = math.Float32frombits(u)
	}
	return out
}

// allHalves returns each encoding once, in order.
func allHalves() []Bits {
	out := make([]Bits, 1<<16)
	for i := range out {
		out[i] = Bits(i)
	}
	return out
}

// randomFloats returns n float32s: half of them any encoding, half near halves.
func randomFloats(r *rand.Rand, n int) []float32 {
	us := make([]uint32, n)
	for i := range us {
		us[i] = r.Uint32()
		if i%2 == 1 {
			us[i] = us[i]&(1<<31|1<<23-1) | (100+r.Uint32N(45))<<23
		}
	}
	return floats(us)
}
