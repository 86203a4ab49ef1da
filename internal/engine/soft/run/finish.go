package run

import (
	"math"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft/internal/halves"
)

// Finish is a step by the rules of the reference that a store of sums may do as it rounds them: it adds element
// i/Each%Count of its second operand to element i of the first, or limits each element as halves.Clamp does.
type Finish struct {
	Each, Count int
	Low, High   fp16.Bits // if Each is 0
}

// finisher is an elementwise runner that may be such a step; Finish is nil if it is not.
type finisher interface{ Finish() *Finish }

// storer is a runner that writes its result by Call.Finish. Stores reports whether it does.
type storer interface{ Stores() bool }

// Finishing is the steps that a store does: at most a sum and then limits.
type Finishing struct {
	sum       *Finish // or nil
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
	case step.Each == 0:
		f.low, f.high, f.limited = step.Low, step.High, true
	case f.sum != nil:
		return false
	default:
		f.sum = step
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

// Finishes sets more to what the joined steps that a store does add to rows of the result. These have width elements,
// the first one from element at on, the others pitch elements after the one before. It returns the limits, and whether
// there are such steps and each row has one number: if not, and where a sum is NaN, Unfinished does the steps.
func (c *Call) Finishes(more []float32, at, width, pitch int) (low, high float32, can bool) {
	f := c.finishing
	if c.finishes() == 0 || f.low == 0x8000 || f.high == 0 { // -0 and 0 are limits of numbers that are as great
		return 0, 0, false
	}
	low, high = f.low.Float32(), f.high.Float32()
	if f.sum == nil {
		for i := range more {
			more[i] = float32(math.Copysign(0, -1)) // a number plus this is the number
		}
		return low, high, true
	}
	y, each := c.Joined[0].In[1].Half, f.sum.Each
	element, from := at/each%f.sum.Count, at%each
	for i := range more {
		for ; from >= each; from -= each {
			if element++; element == f.sum.Count {
				element = 0
			}
		}
		if from+width > each {
			return 0, 0, false
		}
		more[i] = y[element].Float32()
		from += pitch
	}
	return low, high, true
}

// Unfinished does the steps that a store does on elements of the result from at to end.
func (c *Call) Unfinished(at, end, worker int) {
	for i := range c.finishes() {
		c.Joined[i].Run.Span(&c.Joined[i], at, end, worker)
	}
}

// Finish rounds src into rows of the result, and does the joined steps on them that a store does. They are those of
// Finishes.
func (c *Call) Finish(src []float32, width, at, pitch, worker int) {
	if c.finishes() == 0 && width == pitch {
		width = len(src)
	}
	var more [32]float32
	for n := 0; len(src) > 0; src, at = src[n*width:], at+n*pitch {
		n = min(len(src)/width, len(more))
		low, high, can := c.Finishes(more[:n], at, width, pitch)
		if can && halves.Finish(c.Out[0].Half[at:], pitch, src[:n*width], more[:n], low, high) {
			continue
		}
		for i := range n {
			c.Out[0].Store(src[i*width:][:width], at+i*pitch)
			c.Unfinished(at+i*pitch, at+i*pitch+width, worker)
		}
	}
}
