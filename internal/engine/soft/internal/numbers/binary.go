package numbers

import (
	"math"

	"github.com/anekit/anekit/ane/fp16"
)

// Op is an operation on two halves.
type Op int

// The operations. A quotient by zero is infinite with the sign of the dividend, since zeros have none; that of 0 is 0.
const (
	Add Op = iota
	Sub
	Mul
	Div
	Max
	Min
)

// Binary sets dst[i] to x[i] op y[i], exactly, rounded once. An operand of one element is repeated. dst may be x or y.
func Binary(op Op, dst, x, y []fp16.Bits, away bool) {
	xs, ys := step(len(dst), len(x)), step(len(dst), len(y))
	if !machine.vector {
		binaryPortable(op, dst, x, y, away)
		return
	}
	var xRoom, yRoom, tail [block]fp16.Bits
	if xs == 0 {
		repeat(&xRoom, x[0])
	}
	if ys == 0 {
		repeat(&yRoom, y[0])
	}
	for at := 0; at+block <= len(dst); {
		n := min((len(dst)-at)/block*block, most)
		a, b := &xRoom[0], &yRoom[0]
		if xs != 0 {
			a = &x[at]
		}
		if ys != 0 {
			b = &y[at]
		}
		vector(away, int(op), &dst[at], a, b, xs, ys, n/block)
		at += n
	}
	if n := len(dst) % block; n > 0 {
		at := len(dst) - n
		if xs != 0 {
			copy(xRoom[:], x[at:])
		}
		if ys != 0 {
			copy(yRoom[:], y[at:])
		}
		vector(away, int(op), &tail[0], &xRoom[0], &yRoom[0], 0, 0, 1)
		copy(dst[at:], tail[:n])
	}
}

// vector calls the assembly. Calls of a function value would move the operands to the heap.
func vector(away bool, op int, dst, x, y *fp16.Bits, xs, ys, blocks int) {
	if away {
		binaryAway(op, dst, x, y, xs, ys, blocks)
	} else {
		binaryEven(op, dst, x, y, xs, ys, blocks)
	}
}

// step is 0 for an operand that is repeated.
func step(n, operand int) int {
	switch {
	case operand == 1:
		return 0
	case operand != n:
		panic("BUG: numbers: an operand has neither one element nor as many as the result")
	}
	return 1
}

func repeat(room *[block]fp16.Bits, h fp16.Bits) {
	for i := range room {
		room[i] = h
	}
}

// binaryPortable is Binary in Go, some elements at a time.
func binaryPortable(op Op, dst, x, y []fp16.Bits, away bool) {
	const some = 256
	var a, b [some]float32
	fill := func(room *[some]float32, v []fp16.Bits, at, n int) {
		if len(v) > 1 || len(dst) == 1 {
			Decode(room[:n], v[at:at+n])
			return
		}
		for i, f := 0, number(v[0]); i < n; i++ {
			room[i] = f
		}
	}
	for at := 0; at < len(dst); at += some {
		n := min(some, len(dst)-at)
		fill(&a, x, at, n)
		fill(&b, y, at, n)
		compute(op, a[:n], b[:n])
		rules(away).Encode(dst[at:at+n], a[:n])
	}
}

// compute sets a to a op b in float32. Rounding to a half later gives what rounding the exact result gives: float32 has
// more than twice the digits of a half and two (Figueroa, When is double rounding innocuous?), so that it moves no sum,
// difference, product or quotient of halves to a tie of halves.
func compute(op Op, a, b []float32) {
	b = b[:len(a)]
	switch op {
	case Add:
		for i := range a {
			a[i] += b[i]
		}
	case Sub:
		for i := range a {
			a[i] -= b[i]
		}
	case Mul:
		for i := range a {
			a[i] *= b[i]
		}
	case Div:
		for i, f := range a {
			a[i] = quotient(f, b[i])
		}
	case Max:
		for i := range a {
			a[i] = max(a[i], b[i])
		}
	case Min:
		for i := range a {
			a[i] = min(a[i], b[i])
		}
	}
}

// quotient is x / y, where a zero has no sign and 0 / 0 is 0 times infinity, which is 0.
func quotient(x, y float32) float32 {
	switch {
	case x == 0:
		return 0
	case y == 0:
		return float32(math.Copysign(math.Inf(1), float64(x)))
	}
	return x / y
}
