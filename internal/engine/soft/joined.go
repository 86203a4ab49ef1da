package soft

import "context"

// elementwise is a runner whose items are the elements of its result. Each depends on the elements in its place alone,
// so that the result may overwrite an operand that has as many elements, of one size.
type elementwise interface {
	runner
	// element prepares a run, and returns the work of one element in the units of spread.
	element() int
}

// completer is a runner that has the steps that are joined to its own compute on each piece of its result, once for
// each element, if completes reports it.
type completer interface{ completes() bool }

// takesJoined reports whether steps that are joined to one with this runner compute on each piece of its result. If
// not, the first of them takes the others, and they compute on pieces of the whole result afterwards.
func takesJoined(r runner) bool {
	c, ok := r.(completer)
	_, each := r.(elementwise)
	return each || ok && c.completes()
}

// joinedPiece is the elements of a piece of an elementwise step that others are joined to: 64 KiB of halves, so that
// some pieces fit a second-level cache, and a table of a function is in the first-level cache for most of one.
const joinedPiece = 32 * chunk

// begin prepares the call, and those that are joined to it, for a run. These need not look at its context: the call
// does so before each piece.
func (c *call) begin(ctx context.Context, round uint64, workers int) {
	c.ctx, c.round, c.workers, c.extra = ctx, round, workers, 0
	c.yields, _ = ctx.(yielder)
	for i := range c.joined {
		c.extra += c.joined[i].run.(elementwise).element()
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

// pause lets more urgent work run, which is for the caller's goroutine, and reports whether the context has ended.
func (c *call) pause(worker int) bool {
	if worker == 0 && c.yields != nil {
		c.yields.Yield()
	}
	return c.stopped()
}

// complete runs the steps that are joined to the call on elements lo to hi of its result. It pauses before each, so
// that a group waits no longer than a step of its own would.
func (c *call) complete(lo, hi, worker int) {
	for i := range c.joined {
		if c.pause(worker) {
			return
		}
		j := &c.joined[i]
		j.run.span(j, lo, hi, worker)
	}
}
