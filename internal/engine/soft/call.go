package soft

import (
	"context"
	"math"
	"runtime"
	"sync"
)

// kernel prepares one step: it looks at shapes, settings and constants, which
// no longer change, and returns what runs and how many float32s of workspace
// each worker needs.
type kernel func(s *step) (runner, int)

// make has the kernel prepare the step. It may decode budget float32s of constants
// ahead of the runs, and takes from budget what it does.
func (s *step) make(budget *int) {
	s.decode = budget
	s.run, s.work = s.kernel(s)
	s.decode = nil
}

// runner is a step made ready. It is shared by all runs and does not change.
// run splits its work over c.spread, which calls span.
type runner interface {
	run(c *call)
	span(c *call, lo, hi, worker int)
}

// call is one step tied to the memory of one invocation.
type call struct {
	run     runner
	in, out []vec
	work    [][]float32 // one for each worker
	ctx     context.Context

	budget   *int // when folding: the work that is left
	declined bool // the step would have exceeded it
}

// workers is how many goroutines share large steps: a process-wide fact, read
// once, since workspaces are sized by it.
var workers = min(runtime.GOMAXPROCS(0), 16)

// grain is how much work pays for another goroutine, in the units of spread:
// about 50 us of elementwise arithmetic.
const grain = 1 << 15

// spread calls span over [0, n) in up to workers pieces. cost is the work of
// one of the n, an element's arithmetic counting as 1. Small work runs at once
// and allocates nothing.
func (c *call) spread(n, cost int) {
	work := math.MaxInt
	if cost <= work/max(n, 1) {
		work = n * cost
	}
	if c.budget != nil {
		if *c.budget -= min(work, *c.budget+1); *c.budget < 0 {
			c.declined = true
			return
		}
	}
	pieces := max(min(workers, n, work/grain), 1)
	if pieces == 1 {
		c.run.span(c, 0, n, 0)
		return
	}
	c.fork(n, pieces)
}

// fork is spread for large work.
func (c *call) fork(n, pieces int) {
	var wg sync.WaitGroup
	for w := 1; w < pieces; w++ {
		wg.Go(func() { c.run.span(c, n*w/pieces, n*(w+1)/pieces, w) })
	}
	c.run.span(c, 0, n/pieces, 0)
	wg.Wait()
}

// stopped reports whether the caller gave up. Kernels ask between blocks of
// work that take milliseconds.
func (c *call) stopped() bool { return c.ctx.Err() != nil }
