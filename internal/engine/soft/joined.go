package soft

import (
	"cmp"
	"context"
)

// elementwise is a runner whose items are the elements of its result. Each depends on the elements in its place alone,
// so that the result may overwrite an operand that has as many elements, of one size.
type elementwise interface {
	runner
	// element prepares a run, and returns the work of one element in the units of spread.
	element() int
}

// completer is a runner that has the steps that are joined to its own compute on each piece of its result, once for
// each element. rows tells whether these pieces are whole rows.
type completer interface{ completes() (ok, rows bool) }

// tiledFrom is the least bytes of a result, unless tiles are whole rows, for which joined steps compute on each tile of
// a product. They compute on parts of rows then, which takes longer than on a result that is still in the cache.
const tiledFrom = 8 << 20

// takes reports whether steps that are joined to s compute on each piece of its result. If not, they compute on pieces
// of the whole result afterwards. So they do where one of them reads another operand of that size, which is quicker to
// read from end to end than by tiles.
func (s *step) takes(joined []step) bool {
	if _, each := s.run.(elementwise); each {
		return true
	}
	c, ok := s.run.(completer)
	if !ok {
		return false
	}
	ok, rows := c.completes()
	if !ok || rows || s.out[0].bytes < cmp.Or(s.arith.tiled, tiledFrom) {
		return ok && rows
	}
	for i := range joined {
		for _, in := range joined[i].in {
			if in.owner != s.out[0].owner && in.bytes >= s.out[0].bytes {
				return false
			}
		}
	}
	return true
}

// joinedPiece is the elements of a piece of an elementwise step that others are joined to: 64 KiB of halves, so that
// some pieces fit a second-level cache, and a table of a function is in the first-level cache for most of one.
const joinedPiece = 32 * chunk

// begin prepares the call, and those that are joined to it, for a run. These need not look at its context: the call
// does so before each piece.
func (c *call) begin(ctx context.Context, round uint64, workers int) {
	c.ctx, c.round, c.workers, c.extra = ctx, round, workers, 0
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

// complete runs the steps that are joined to the call on elements lo to hi of its result.
func (c *call) complete(lo, hi, worker int) {
	for i := range c.joined {
		j := &c.joined[i]
		j.run.span(j, lo, hi, worker)
	}
}
