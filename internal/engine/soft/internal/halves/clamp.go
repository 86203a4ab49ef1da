package halves

import (
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft/internal/simd"
)

const (
	sign     = 0x8000
	infinity = 0x7c00
	quiet    = 0x7e00
)

// key orders halves as their values are ordered, with -0 below +0. key(key(b)) is b.
func key(b fp16.Bits) int16 { return int16(b ^ fp16.Bits(int16(b)>>15)&^sign) }

// Clamp sets dst[i] to min(max(x[i], low), high). low and high are no NaNs. A NaN stays, with its sign; its payload
// stays if payload is set, and is 0 otherwise. dst may be x.
func Clamp(dst, x []fp16.Bits, low, high fp16.Bits, payload bool) {
	x = x[:len(dst)]
	keep := fp16.Bits(sign)
	if payload {
		keep = 0xffff
	}
	l, h := key(low), key(high)
	for len(dst) >= block && machine != simd.Portable {
		n := whole(len(dst))
		clampVector(&dst[0], &x[0], n/block, l, h, keep)
		dst, x = dst[n:], x[n:]
	}
	for i, b := range x {
		if b&^sign > infinity {
			dst[i] = b&keep | quiet
			continue
		}
		k := fp16.Bits(min(max(key(b), l), h))
		dst[i] = fp16.Bits(key(k))
	}
}

// Abs sets dst[i] to the magnitude of x[i]; a NaN becomes quiet. dst may be x.
func Abs(dst, x []fp16.Bits) {
	x = x[:len(dst)]
	for len(dst) >= block && machine != simd.Portable {
		n := whole(len(dst))
		absVector(&dst[0], &x[0], n/block)
		dst, x = dst[n:], x[n:]
	}
	for i, b := range x {
		if b &^= sign; b > infinity {
			b |= quiet
		}
		dst[i] = b
	}
}
