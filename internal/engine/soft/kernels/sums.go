package kernels

import (
	"math"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft/internal/numbers"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/numerics"
)

// The runners of a chip's softmax, norms and reductions compute lanes that are runs of halves with package numbers, step
// by step over a whole lane. Their results are those of the runners over several lanes.

// runOf reports whether the lanes are runs, and the rules those of package numbers.
func (l *lanes) runOf(r numerics.Rules) bool {
	return l.run > 1 && r.Has(numerics.Exponent31)
}

// sum4 adds in four interleaved parts, as the functions below do.
func sum4(m []float32) float64 {
	var a, b, c, d float64
	for ; len(m) >= 4; m = m[4:] {
		a, b, c, d = a+float64(m[0]), b+float64(m[1]), c+float64(m[2]), d+float64(m[3])
	}
	for _, f := range m {
		a += float64(f)
	}
	return (a + b) + (c + d)
}

func magnitudes4(m []float32) float64 {
	var a, b, c, d float64
	abs := func(f float32) float64 { return math.Abs(float64(f)) }
	for ; len(m) >= 4; m = m[4:] {
		a, b, c, d = a+abs(m[0]), b+abs(m[1]), c+abs(m[2]), d+abs(m[3])
	}
	for _, f := range m {
		a += abs(f)
	}
	return (a + b) + (c + d)
}

// squares4 adds squares, each of which is exact in float32: 22 bits.
func squares4(m []float32) float64 {
	var a, b, c, d float64
	for ; len(m) >= 4; m = m[4:] {
		a, b, c, d = a+float64(m[0]*m[0]), b+float64(m[1]*m[1]), c+float64(m[2]*m[2]), d+float64(m[3]*m[3])
	}
	for _, f := range m {
		a += float64(f * f)
	}
	return (a + b) + (c + d)
}

// greatest4 is the greatest of numbers, none of which is NaN.
func greatest4(m []float32) float32 {
	a, b, c, d := m[0], m[0], m[0], m[0]
	for ; len(m) >= 4; m = m[4:] {
		if m[0] > a {
			a = m[0]
		}
		if m[1] > b {
			b = m[1]
		}
		if m[2] > c {
			c = m[2]
		}
		if m[3] > d {
			d = m[3]
		}
	}
	for _, f := range m {
		a = max(a, f)
	}
	return max(a, b, c, d)
}

// foldNumbers adds the numbers of x, or takes the least or the greatest, to acc. It calls no function value, so that
// its room stays on the stack.
func foldNumbers(w way, acc float64, x []fp16.Bits) float64 {
	var room [run.Chunk]float32
	for len(x) > 0 {
		m := room[:min(run.Chunk, len(x))]
		numbers.Decode(m, x[:len(m)])
		x = x[len(m):]
		switch w {
		case bySum:
			acc += sum4(m)
		case byMagnitude:
			acc += magnitudes4(m)
		case bySquare:
			acc += squares4(m)
		case byMaximum:
			acc = max(acc, float64(greatest4(m)))
		case byMinimum:
			for i := range m {
				m[i] = -m[i]
			}
			acc = min(acc, -float64(greatest4(m)))
		}
	}
	return acc
}

// bitsOf returns the half of a number, of an infinite one too.
func bitsOf(f float32) fp16.Bits {
	b := math.Float32bits(f / 0x1p112)
	return fp16.Bits(b>>16&0x8000 | b>>13&0x7fff)
}

// inOrder adds the numbers of x, or their squares, one after another.
func inOrder(x []fp16.Bits, squared bool) (sum float64) {
	var room [run.Chunk]float32
	for len(x) > 0 {
		m := room[:min(run.Chunk, len(x))]
		numbers.Decode(m, x[:len(m)])
		x = x[len(m):]
		if squared {
			for i, f := range m {
				m[i] = f * f // exact: 22 bits
			}
		}
		for _, f := range m {
			sum += float64(f)
		}
	}
	return sum
}
