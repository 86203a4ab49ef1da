// Package quotient divides halves: -shift/scale is the integer that stands for 0 among integers in groups.
package quotient

import "github.com/anekit/anekit/ane/fp16"

// stretch is the most elements of a call of assembly, which the scheduler cannot preempt.
const stretch = 64 << 10

// Negated sets dst to -a/b, rounded to float32 and then to a half, and to 0 where b is 0. It reports whether all numbers
// are finite, and a is 0 wherever b is; otherwise dst is undefined. The three have one length, and dst is memory of its
// own.
func Negated(dst, a, b []fp16.Bits) bool {
	fine := true
	for len(dst) > 0 && fine {
		n := min(len(dst), stretch)
		fine = negated(dst[:n], a[:n], b[:n])
		dst, a, b = dst[n:], a[n:], b[n:]
	}
	return fine
}

// portable is negated in Go.
func portable(dst, a, b []fp16.Bits) bool {
	for i := range dst {
		x, y := a[i].Float32(), b[i].Float32()
		switch {
		case !finite(a[i]) || !finite(b[i]) || x != 0 && y == 0:
			return false
		case y == 0:
			dst[i] = 0
		default:
			if dst[i] = fp16.FromFloat32(-x / y); !finite(dst[i]) {
				return false
			}
		}
	}
	return true
}

func finite(b fp16.Bits) bool { return !b.IsNaN() && !b.IsInf() }
