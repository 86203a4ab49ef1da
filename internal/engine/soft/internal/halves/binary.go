package halves

import (
	"math"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft/internal/simd"
	"github.com/anekit/anekit/internal/numerics"
)

// Op is an operation on two halves.
type Op int

// The operations.
const (
	Add Op = iota
	Sub
	Mul
	Div
	Max
	Min

	operations
)

// block is the number of halves in one step of the assembly.
const block = 16

// most is how many halves one call of assembly takes, during which a goroutine cannot be preempted: some 10 us.
const most = 1 << 14

// whole is how many of n halves the next call of assembly takes.
func whole(n int) int { return min(n/block*block, most) }

// Binary sets dst[i] to x[i] op y[i], exactly, rounded once as the rules say, which are 0 or have Exponent31. An
// operand of one element is repeated. dst may be x or y.
//
// By the rules 0 a NaN propagates through Max and Min, for which +0 is greater than -0. By the others a quotient by
// zero is infinite with the sign of the dividend, since zeros have none; that of 0 is 0.
func Binary(op Op, dst, x, y []fp16.Bits, r numerics.Rules) {
	var a, b, tail [block]fp16.Bits
	xstep, ystep := step(&a, x, len(dst)), step(&b, y, len(dst))
	kind := int(op)
	switch {
	case machine == simd.Portable, r != 0 && !Vectors():
		binaryPortable(op, dst, x, y, r)
		return
	case r.Has(numerics.HalfAway):
		kind += int(operations)
	case r != 0:
		kind += 2 * int(operations)
	}
	at := 0
	for n := 0; at+block <= len(dst); at += n {
		n = whole(len(dst) - at)
		binaryVector(kind, &dst[at], from(&a, x, xstep, at), from(&b, y, ystep, at), xstep, ystep, n/block)
	}
	if at < len(dst) {
		if xstep != 0 {
			copy(a[:], x[at:])
		}
		if ystep != 0 {
			copy(b[:], y[at:])
		}
		binaryVector(kind, &tail[0], &a[0], &b[0], 0, 0, 1)
		copy(dst[at:], tail[:])
	}
}

// step is how many elements of an operand n results advance by: 0 or 1. The one element that all have fills the room.
func step(room *[block]fp16.Bits, x []fp16.Bits, n int) int {
	switch len(x) {
	case 1:
		for i := range room {
			room[i] = x[0]
		}
		return 0
	case n:
		return 1
	}
	panic("BUG: halves: an operand has neither one element nor as many as the result")
}

// from is the block of an operand at element i, which is the room if that has it.
func from(room *[block]fp16.Bits, x []fp16.Bits, step, i int) *fp16.Bits {
	if step == 0 {
		return &room[0]
	}
	return &x[i]
}

// binaryPortable is Binary in Go, some elements at a time.
func binaryPortable(op Op, dst, x, y []fp16.Bits, r numerics.Rules) {
	const some = 256
	var a, b [some]float32
	fill := func(room []float32, v []fp16.Bits, at int) {
		if len(v) == len(dst) {
			r.Decode(room, v[at:at+len(room)])
			return
		}
		for i, f := 0, r.Value(v[0]); i < len(room); i++ {
			room[i] = f
		}
	}
	for at := 0; at < len(dst); at += some {
		n := min(some, len(dst)-at)
		fill(a[:n], x, at)
		fill(b[:n], y, at)
		if op == Div && r != 0 {
			divide(a[:n], b[:n])
		} else {
			Compute(op, a[:n], a[:n], b[:n])
		}
		r.Encode(dst[at:at+n], a[:n])
	}
}

// Compute sets dst[i] to x[i] op y[i] in float32. dst may be x. Rounding the result to a half, to nearest even or half
// away from zero, gives the exact result rounded once. float32 has at least twice the digits of a half and two. So it
// moves no result of two halves to a tie of halves (Figueroa, When is double rounding innocuous?).
func Compute(op Op, dst, x, y []float32) {
	x, y = x[:len(dst)], y[:len(dst)]
	switch op {
	case Add:
		for i := range dst {
			dst[i] = x[i] + y[i]
		}
	case Sub:
		for i := range dst {
			dst[i] = x[i] - y[i]
		}
	case Mul:
		for i := range dst {
			dst[i] = x[i] * y[i]
		}
	case Div:
		for i := range dst {
			dst[i] = x[i] / y[i]
		}
	case Max:
		for i := range dst {
			dst[i] = max(x[i], y[i])
		}
	case Min:
		for i := range dst {
			dst[i] = min(x[i], y[i])
		}
	}
}

// divide sets a to a / b with the zeros of chips, which have no sign: 0 / 0 is 0 times infinity, which is 0.
func divide(a, b []float32) {
	for i, y := range b {
		switch {
		case a[i] != 0 && y != 0:
			a[i] /= y
		case a[i] == 0:
			a[i] = 0
		default:
			a[i] = float32(math.Copysign(math.Inf(1), float64(a[i])))
		}
	}
}
