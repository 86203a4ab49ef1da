package run

import "context"

// Elementwise is a runner whose items are the elements of its result. Each depends on the elements in its place alone,
// so that the result may overwrite an operand that has as many elements, of one size.
type Elementwise interface {
	Runner
	// element prepares a run, and returns the work of one element in the units of spread.
	Element() int
}

// completer is a runner that may compute the steps joined to it on each piece of its result, once for each element.
// Completes reports whether it does.
type completer interface{ Completes() bool }

// TakesJoined reports whether steps that are joined to one with this runner compute on each piece of its result. If
// not, the first of them takes the others, and they compute on pieces of the whole result afterwards.
func TakesJoined(r Runner) bool {
	c, ok := r.(completer)
	_, each := r.(Elementwise)
	return each || ok && c.Completes()
}

// joinedPiece is the elements of a piece of an elementwise step that others are joined to. It is 64 KiB of halves: a
// second-level cache holds some pieces, and a table of a function stays in the first-level cache for most of one.
const joinedPiece = 32 * Chunk

// Begin prepares the call, and those that are joined to it, for a run. These need not look at its context: the call
// does so before each piece.
func (c *Call) Begin(ctx context.Context, round uint64, workers int) {
	c.Ctx, c.Round, c.Workers, c.extra = ctx, round, workers, 0
	c.Yields, _ = ctx.(Yielder)
	for i := range c.Joined {
		c.extra += c.Joined[i].Run.(Elementwise).Element()
	}
	if c.finishing == nil && len(c.Joined) > 0 { // for the first run
		c.finishing = Stores(c.Run)
		for i := 0; c.finishing != nil && i < len(c.Joined) && c.finishing.Take(c.Joined[i].Run); i++ {
		}
	}
}

// Span runs items lo to hi, and the steps that are joined to an elementwise one.
func (c *Call) Span(lo, hi, worker int) {
	if _, each := c.Run.(Elementwise); !each || len(c.Joined) == 0 {
		c.Run.Span(c, lo, hi, worker)
		return
	}
	for ; lo < hi && !c.Stopped(); lo += joinedPiece {
		end := min(lo+joinedPiece, hi)
		c.Run.Span(c, lo, end, worker)
		c.Complete(lo, end, worker)
	}
}

// Pause lets more urgent work run, which is for the caller's goroutine, and reports whether the context has ended.
func (c *Call) Pause(worker int) bool {
	if worker == 0 && c.Yields != nil {
		c.Yields.Yield()
	}
	return c.Stopped()
}

// Complete runs the steps that are joined to the call, but for those that Finish does, on elements lo to hi of its
// result. It pauses before each, so that a group waits no longer than a step of its own would.
func (c *Call) Complete(lo, hi, worker int) {
	for i := c.finishes(); i < len(c.Joined); i++ {
		if c.Pause(worker) {
			return
		}
		j := &c.Joined[i]
		j.Run.Span(j, lo, hi, worker)
	}
}

// Sequence runs its parts one after another: all of the first is done before the second begins.
type Sequence []Runner

func (r *Sequence) Run(c *Call) {
	for _, part := range *r {
		c.Run = part
		part.Run(c)
	}
	c.Run = r
}

// Span implements runner; the parts have their own.
func (r *Sequence) Span(*Call, int, int, int) {}
