package soft

import "context"

// elementwise is a runner whose items are the elements of its result. Each depends on the elements in its place alone,
// so that the result may overwrite an operand that has as many elements, of one size.
type elementwise interface {
	runner
	// element prepares a run, and returns the work of one element in the units of spread.
	element() int
}

// completer is a runner that calls complete after it stored a piece of its result, once for each element.
type completer interface{ completes() bool }

// takesJoined reports whether the steps that are joined to one with this runner compute on each piece of its result.
// After another runner they compute on the whole.
func takesJoined(r runner) bool {
	c, ok := r.(completer)
	_, each := r.(elementwise)
	return each || ok && c.completes()
}

// joinedPiece is the elements of a piece of an elementwise step that others are joined to: of halves, half of a
// first-level cache.
const joinedPiece = 8 * chunk

// begin prepares the call, and those that are joined to it, for a run.
func (c *call) begin(ctx context.Context, round uint64, workers int) {
	c.ctx, c.round, c.workers, c.extra = ctx, round, workers, 0
	for i := range c.joined {
		j := &c.joined[i]
		j.ctx = ctx
		c.extra += j.run.(elementwise).element()
	}
}

// end forgets the context.
func (c *call) end() {
	c.ctx = nil
	for i := range c.joined {
		c.joined[i].ctx = nil
	}
}

// span runs items lo to hi, and the steps that are joined to an elementwise one.
func (c *call) span(lo, hi, worker int) {
	if _, each := c.run.(elementwise); !each || len(c.joined) == 0 {
		c.run.span(c, lo, hi, worker)
		return
	}
	for ; lo < hi && !c.stopped(); lo += joinedPiece {
		end := min(lo+joinedPiece, hi)
		c.run.span(c, lo, end, worker)
		c.complete(lo, end, worker)
	}
}

// complete runs the steps that are joined to the call on elements lo to hi of its result.
func (c *call) complete(lo, hi, worker int) {
	for i := range c.joined {
		j := &c.joined[i]
		j.run.span(j, lo, hi, worker)
	}
}
