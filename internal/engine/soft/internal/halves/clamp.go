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

// Finish rounds rows of x to halves, adds a half to each element, rounds again, and limits each as Clamp does, to limits
// that are no zeros as great as another number. There are as many rows as numbers to add, and those of dst begin pitch
// elements apart. It reports whether it did: it writes some of dst and returns false where a sum is NaN, and on machines
// whose processor has no kernel.
func Finish(dst []fp16.Bits, pitch int, x []float32, more []float32, low, high float32) bool {
	rows := len(more)
	width := len(x) / rows
	if !Vectors() {
		return false
	}
	_ = dst[(rows-1)*pitch+width-1]
	if width >= block/2 {
		return finishRows(&dst[0], &x[0], &more[0], rows, width, pitch, low, high) == 0
	}
	for i := range more {
		var from eight
		var to [8]fp16.Bits
		copy(from[:], x[i*width:][:width])
		if finishRows(&to[0], &from[0], &more[i], 1, 8, 8, low, high) != 0 {
			return false
		}
		copy(dst[i*pitch:][:width], to[:])
	}
	return true
}
