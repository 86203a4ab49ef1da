package halves

import "github.com/anekit/anekit/ane/fp16"

// Op is an operation on two halves.
type Op int

// The operations. Each result is the exact one, rounded once to nearest even. A NaN propagates through Max and Min,
// for which +0 is greater than -0.
const (
	Add Op = iota
	Sub
	Mul
	Div
	Max
	Min
)

// block is the number of halves in one step of the assembly.
const block = 16

// most is how many halves one call of assembly takes, during which a goroutine cannot be preempted: some 10 us.
const most = 1 << 14

// Binary sets dst[i] to x[i] op y[i]. An operand of one element is repeated. dst may be x or y.
func Binary(op Op, dst, x, y []fp16.Bits) {
	xs, ys := step(len(dst), len(x)), step(len(dst), len(y))
	if machine.kernel == portable {
		binaryPortable(op, dst, x, y)
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
		binaryVector(int(op), &dst[at], a, b, xs, ys, n/block)
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
		binaryVector(int(op), &tail[0], &xRoom[0], &yRoom[0], 0, 0, 1)
		copy(dst[at:], tail[:n])
	}
}

// step is 0 for an operand that is repeated.
func step(n, operand int) int {
	switch {
	case operand == 1:
		return 0
	case operand != n:
		panic("BUG: halves: an operand has neither one element nor as many as the result")
	}
	return 1
}

func repeat(room *[block]fp16.Bits, h fp16.Bits) {
	for i := range room {
		room[i] = h
	}
}

// binaryPortable is Binary in Go, some elements at a time.
func binaryPortable(op Op, dst, x, y []fp16.Bits) {
	const some = 256
	var a, b [some]float32
	fill := func(room *[some]float32, v []fp16.Bits, at, n int) {
		switch {
		case len(v) > 1:
			fp16.Decode(room[:n], v[at:])
		case at == 0:
			f := v[0].Float32()
			for i := range room {
				room[i] = f
			}
		}
	}
	once := len(x) == 1 // the results overwrite a
	for at := 0; at < len(dst); at += some {
		n := min(some, len(dst)-at)
		if once {
			fill(&a, x, 0, n)
		} else {
			fill(&a, x, at, n)
		}
		fill(&b, y, at, n)
		compute(op, a[:n], b[:n])
		fp16.Encode(dst[at:at+n], a[:n])
	}
}

// compute sets a to a op b. Rounding to float32 and then to a half is rounding once: 24 bits are at least 2*11+2.
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
		for i := range a {
			a[i] /= b[i]
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
