package run

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// takes is a runner that counts the items which it takes.
type takes struct{ items []atomic.Int32 }

func (r *takes) Run(c *Call) { c.Deal(len(r.items), grain) }

func (r *takes) Span(c *Call, _, _, _ int) {
	for item, ok := c.Take(); ok; item, ok = c.Take() {
		r.items[item].Add(1)
	}
}

// Goroutines that take items get every one once, in each run.
func TestTake(t *testing.T) {
	for _, n := range []int{0, 1, 3, 100, 20_000} {
		r := &takes{make([]atomic.Int32, n)}
		c := &Call{Run: r, Workers: 4}
		for run := range int32(3) {
			r.Run(c)
			for i := range r.items {
				require.Equal(t, run+1, r.items[i].Load(), "item %d of %d", i, n)
			}
		}
	}
}
