package halves

import (
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft/internal/simd"
)

// Way is what a sum adds for each half.
type Way int

// The ways.
const (
	Value Way = iota
	Magnitude
	Square
)

// of returns what is added for a half. It is exact.
func (w Way) of(b fp16.Bits) float64 {
	f := float64(b.Float32())
	switch w {
	case Magnitude:
		return max(f, -f)
	case Square:
		return f * f
	}
	return f
}

// Sums are the partial sums of a sequence of halves: element i is added to sum i mod 16. Sums of values and of
// magnitudes are exact up to a total of magnitudes of 2^29, which 8192 halves cannot pass. Beyond it each addition errs
// by at most 2^-53 of the total of magnitudes.
type Sums [block]float64

// Add adds a piece of the sequence. Each piece begins with sum 0 again.
func (s *Sums) Add(w Way, x []fp16.Bits) {
	if machine == simd.Portable {
		for i, b := range x {
			s[i%block] += w.of(b)
		}
		return
	}
	for len(x) >= block {
		n := whole(len(x))
		sumVector(int(w), &s[0], &x[0], n/block)
		x = x[n:]
	}
	if len(x) > 0 {
		var tail [block]fp16.Bits
		copy(tail[:], x)
		sumVector(int(w), &s[0], &tail[0], 1)
	}
}

// Total is the sum of all.
func (s *Sums) Total() float64 {
	var t [4]float64
	for i := range t {
		t[i] = (s[i] + s[i+4]) + (s[i+8] + s[i+12])
	}
	return (t[0] + t[1]) + (t[2] + t[3])
}

// AddTo adds each half of a row to its own sum, for one row after another. The rows are as long as sums and stride
// elements apart.
func AddTo(w Way, sums []float64, x []fp16.Bits, rows, stride int) {
	full := 0
	if Vectors() && rows > 0 && len(sums) >= block {
		full = len(sums) / block * block
		_ = x[(rows-1)*stride+len(sums)-1]
		for at := 0; at < full; at += most {
			// Some rows at a time are in as many lines that have one place in the first cache.
			for r := 0; r < rows; r += 8 {
				addToVector(int(w), &sums[at], &x[r*stride+at], (min(at+most, full)-at)/block, min(rows-r, 8),
					2*stride)
			}
		}
	}
	for r := range rows {
		for i := full; i < len(sums); i++ {
			sums[i] += w.of(x[r*stride+i])
		}
	}
}

// Span is the least and the greatest of a sequence of halves.
type Span struct{ low, high int } // keys; beyond those of the infinities where a NaN was

// NewSpan returns the span of no half: of the greatest, +Inf, to the least, -Inf.
func NewSpan() Span { return Span{int(key(infinity)), int(key(sign | infinity))} }

// Add widens the span.
func (s *Span) Add(x []fp16.Bits) {
	for len(x) >= block && Vectors() {
		n := whole(len(x))
		low, high := spanVector(&x[0], n/block)
		s.low, s.high = min(s.low, low), max(s.high, high)
		x = x[n:]
	}
	for _, b := range x {
		k := int(key(b))
		s.low, s.high = min(s.low, k), max(s.high, k)
	}
}

// Ends returns the least and the greatest half, or NaN for both if there was one. +0 is greater than -0.
func (s *Span) Ends() (low, high fp16.Bits) {
	if s.low < int(key(sign|infinity)) || s.high > infinity {
		return fp16.NaN, fp16.NaN
	}
	return fp16.Bits(key(fp16.Bits(s.low))), fp16.Bits(key(fp16.Bits(s.high)))
}

// spansMost is how many columns Spans takes.
const spansMost = 1024

// Spans are the least or the greatest halves of up to 1024 columns.
type Spans struct {
	least      bool
	keys, nans [spansMost]int16
}

// NewSpans returns those of no row.
func NewSpans(least bool) (s Spans) {
	s.least = least
	start := key(sign | infinity)
	if least {
		start = key(infinity)
	}
	for i := range s.keys {
		s.keys[i] = start
	}
	return s
}

// Add adds rows of n columns, stride elements apart.
func (s *Spans) Add(n int, x []fp16.Bits, rows, stride int) {
	full := 0
	if Vectors() && rows > 0 && n >= block {
		full = n / block * block
		_, _ = x[(rows-1)*stride+n-1], s.keys[n-1]
		for r := 0; r < rows; r += 8 {
			spansVector(&s.keys[0], &s.nans[0], &x[r*stride], full/block, min(rows-r, 8), 2*stride, s.least)
		}
	}
	for r := range rows {
		for i := full; i < n; i++ {
			b := x[r*stride+i]
			if b&^sign > infinity {
				s.nans[i] = -1
			}
			if k := key(b); s.least {
				s.keys[i] = min(s.keys[i], k)
			} else {
				s.keys[i] = max(s.keys[i], k)
			}
		}
	}
}

// Result sets dst to the halves, or NaN where there was one. +0 is greater than -0.
func (s *Spans) Result(dst []fp16.Bits) {
	for i := range dst {
		if dst[i] = fp16.Bits(key(fp16.Bits(s.keys[i]))); s.nans[i] != 0 {
			dst[i] = fp16.NaN
		}
	}
}
