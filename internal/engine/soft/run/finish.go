package run

import (
	"math"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft/internal/halves"
)

// Finish is a step by the rules of the reference that a store of sums may do as it rounds them: it adds an element of
// its second operand to each row of the first, or limits each element as halves.Clamp does.
type Finish struct {
	Row       func(i int) (element, left int) // added to element i of the result, and to how many from there on
	Low, High fp16.Bits                       // if there is no Row
}

// finisher is an elementwise runner that may be such a step; Finish is nil if it is not.
type finisher interface{ Finish() *Finish }

// storer is a runner that writes its result by Call.Finish. Stores reports whether it does.
type storer interface{ Stores() bool }

// Finishing is the steps that a store does: at most a sum and then limits.
type Finishing struct {
	row       func(i int) (element, left int)
	low, high fp16.Bits
	steps     int
	limited   bool
}

// Stores returns the steps, none yet, that a runner's store does, and nil for a runner that does none.
func Stores(r Runner) *Finishing {
	if s, ok := r.(storer); !ok || !halves.Vectors() || !s.Stores() {
		return nil
	}
	return &Finishing{low: fp16.Inf | 0x8000, high: fp16.Inf}
}

// Take adds the step that follows, and reports whether the store does it.
func (f *Finishing) Take(r Runner) bool {
	s, ok := r.(finisher)
	if !ok || f.limited || s.Finish() == nil {
		return false
	}
	switch step := s.Finish(); {
	case step.Row == nil:
		f.low, f.high, f.limited = step.Low, step.High, true
	case f.row != nil:
		return false
	default:
		f.row = step.Row
	}
	f.steps++
	return true
}

// finishes is how many of the joined steps Finish does, and not Complete.
func (c *Call) finishes() int {
	if c.finishing == nil {
		return 0
	}
	return c.finishing.steps
}

// Finish rounds src into the elements of the result from at on, and does the joined steps on them that a store does.
func (c *Call) Finish(src []float32, at, worker int) {
	out, f := &c.Out[0], c.finishing
	if c.finishes() == 0 {
		out.Store(src, at)
		return
	}
	for n := len(src); len(src) > 0; src, at, n = src[n:], at+n, len(src)-n {
		bias := float32(math.Copysign(0, -1)) // a number plus this is the number
		if f.row != nil {
			element, left := f.row(at)
			n, bias = min(len(src), left), c.Joined[0].In[1].Half[element].Float32()
		}
		if halves.Finish(out.Half[at:at+n], src[:n], bias, f.low, f.high) {
			continue
		}
		out.Store(src[:n], at)
		for i := range f.steps {
			c.Joined[i].Run.Span(&c.Joined[i], at, at+n, worker)
		}
	}
}
