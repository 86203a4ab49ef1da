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

// Finish rounds x to halves, adds a half to each, rounds again and limits each as Clamp does. It reports whether it
// did: it writes some of dst and returns false where a sum is NaN, for limits that are a zero as great as another
// number's, and on machines whose processor has no kernel. dst has as many elements as x.
func Finish(dst []fp16.Bits, x []float32, bias float32, low, high fp16.Bits) bool {
	if !Vectors() || low == sign || high == 0 {
		return false
	}
	l, h := low.Float32(), high.Float32()
	x = x[:len(dst)]
	at, n := 0, 0
	for ; at+8 <= len(dst); at += n {
		n = min((len(dst)-at)/8*8, most)
		if finishVector(&dst[at], &x[at], n/8, bias, l, h) != 0 {
			return false
		}
	}
	switch n = len(dst) - 8; {
	case at == len(dst):
		return true
	case n >= 0: // the last vector overlaps the one before
		return finishVector(&dst[n], &x[n], 1, bias, l, h) == 0
	}
	var from eight
	var to [8]fp16.Bits
	copy(from[:], x)
	bad := finishVector(&to[0], &from[0], 1, bias, l, h)
	copy(dst, to[:])
	return bad == 0
}
