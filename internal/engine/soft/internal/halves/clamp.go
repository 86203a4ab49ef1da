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

// Lookup sets dst[i] to the element of table at the bits of x[i]. dst may be x.
func Lookup(dst, x []fp16.Bits, table *[1 << 16]fp16.Bits) {
	x = x[:len(dst)]
	for len(x) >= 8 && len(dst) >= 8 {
		in, out := (*[8]fp16.Bits)(x), (*[8]fp16.Bits)(dst)
		a, b, c, d := table[in[0]], table[in[1]], table[in[2]], table[in[3]]
		e, f, g, h := table[in[4]], table[in[5]], table[in[6]], table[in[7]]
		out[0], out[1], out[2], out[3], out[4], out[5], out[6], out[7] = a, b, c, d, e, f, g, h
		x, dst = x[8:], dst[8:]
	}
	for i, b := range x {
		dst[i] = table[b]
	}
}
