package soft

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anekit/anekit/ane"
)

// kernel prepares one step. It reads shapes, settings and constants, none of which
// change any more, and returns the runner and the float32s of workspace that each
// worker needs.
type kernel func(s *step) (runner, int)

// make lets the kernel prepare the step. The kernel may decode up to budget
// float32s of constants ahead of the runs and subtracts them from budget.
func (s *step) make(budget *int) {
	s.decode = budget
	s.run, s.work = s.kernel(s)
	s.decode = nil
	s.imitate()
}

// runner is a prepared step. All runs share it and it does not change. run passes
// the size of its work to c.spread, which calls span.
type runner interface {
	run(c *call)
	span(c *call, lo, hi, worker int)
}

// call is one step tied to the memory of one invocation.
type call struct {
	run     runner
	in, out []vec
	work    [][]float32 // one for each worker
	workers int         // how many goroutines may share the step
	words   [][]int32   // work again, or other memory of its length, for integers; nil in the reference mode
	rooms   []halfRoom  // work again, for runners that view it as halves
	crew    *crew       // of the engine; nil for one of the call's own
	forked  *forked     // of the last fork
	joined  []call      // of the steps that compute on each piece of the result
	extra   int         // work of these for one element
	ctx     context.Context
	yields  yielder // the context, if it is one

	round    uint64            // evaluations since the load before this one
	shares   [maxWorkers]share // of deal, one for each of so many workers:
	dealt    int
	fault    atomic.Pointer[ane.Error] // what makes the run fail
	budget   *int                      // while folding: the remaining work
	declined bool                      // the step exceeded the budget and did not run
}

// maxWorkers bounds the goroutines that share a large step, and with them the workspaces.
const maxWorkers = 16

// parallel is the number of goroutines that share a large step: as many as processors, at most bound unless that is 0.
func parallel(bound int) int {
	n := min(runtime.GOMAXPROCS(0), maxWorkers)
	if bound > 0 {
		n = min(n, bound)
	}
	return n
}

// grain is the least work, in the units of spread, for which another goroutine
// pays: about 50 us of elementwise arithmetic.
const grain = 1 << 15

// spread calls span over [0, n) in up to c.workers pieces. cost is the work of one
// item; the arithmetic of one element counts as 1. Small work runs in the caller's
// goroutine and allocates nothing.
func (c *call) spread(n, cost int) { c.split(n, c.pieces(n, cost)) }

// deal is spread for runners whose span computes the items that take returns: a goroutine that has computed its own takes
// some of one that began late.
func (c *call) deal(n, cost int) {
	c.dealt = c.pieces(n, cost)
	for w := range c.dealt {
		c.shares[w].set(n*w/c.dealt, n*(w+1)/c.dealt)
	}
	c.split(n, c.dealt)
}

// take returns an item of deal that no goroutine has taken, and false if there is none.
func (c *call) take(worker int) (item int, ok bool) {
	if item, ok = c.shares[worker].first(); ok {
		return item, ok
	}
	for w := range c.dealt {
		if item, ok = c.shares[w].last(); ok {
			return item, ok
		}
	}
	return 0, false
}

// pieces is in how many pieces goroutines share n items; 0 if the budget does not suffice for them.
func (c *call) pieces(n, cost int) int {
	work := math.MaxInt
	cost += c.extra
	if cost <= work/max(n, 1) {
		work = n * cost
	}
	if c.budget != nil {
		if *c.budget -= min(work, *c.budget+1); *c.budget < 0 {
			c.declined = true
			return 0
		}
	}
	return max(min(c.workers, n, work/grain), 1)
}

// split calls span over [0, n) in pieces.
func (c *call) split(n, pieces int) {
	switch pieces {
	case 0:
	case 1:
		c.span(0, n, 0)
	default:
		c.fork(n, pieces)
	}
}

// forked is what the goroutines of a step share. A call keeps it, so that only its first fork allocates.
type forked struct {
	c      *call
	left   atomic.Int32   // pieces of helpers that have not ended
	done   sync.WaitGroup // of the same pieces
	first  atomic.Pointer[forwarded]
	faults bool // debug.SetPanicOnFault of the caller

	n, pieces int
}

// compute runs the piece of one worker.
func (f *forked) compute(w int) {
	debug.SetPanicOnFault(f.faults)
	defer func() {
		if v := recover(); v != nil {
			f.first.CompareAndSwap(nil, &forwarded{v, debug.Stack()})
		}
	}()
	f.c.span(f.n*w/f.pieces, f.n*(w+1)/f.pieces, w)
}

// end tells the caller that a piece has ended.
func (f *forked) end() {
	f.left.Add(-1)
	f.done.Done()
}

// join waits until the pieces of all helpers have ended: awake for as long as the caller's own piece took.
func (f *forked) join(began time.Time) {
	await(time.Since(began), func() bool { return f.left.Load() == 0 })
	f.done.Wait()
}

// fork runs span on several goroutines. A panic in one of them is a panic of the caller,
// once all have ended.
func (c *call) fork(n, pieces int) {
	if c.forked == nil {
		c.forked = &forked{c: c}
	}
	if c.crew == nil {
		c.crew = &crew{}
	}
	f := c.forked
	f.n, f.pieces = n, pieces
	f.first.Store(nil)
	f.faults = debug.SetPanicOnFault(false)
	debug.SetPanicOnFault(f.faults)
	f.left.Store(int32(pieces - 1))
	f.done.Add(pieces - 1)
	for w := 1; w < pieces; w++ {
		c.crew.start(f, w)
	}
	began := time.Now()
	func() {
		defer f.join(began) // after a panic too: the workers write to the tensors
		c.span(0, n/pieces, 0)
	}()
	if v := f.first.Load(); v != nil {
		panic(v)
	}
}

// forwarded is the value of a panic in another goroutine, with the stack of that.
type forwarded struct {
	value any
	stack []byte
}

// Error is what the value says.
func (f *forwarded) Error() string { return fmt.Sprint(f.value) }

// Unwrap returns the value if it is an error.
func (f *forwarded) Unwrap() error {
	err, _ := f.value.(error)
	return err
}

// Stack is where the panic began.
func (f *forwarded) Stack() []byte { return f.stack }

// stopped reports whether the context has ended. Kernels check it between blocks
// of work of a few milliseconds.
func (c *call) stopped() bool { return c.ctx.Err() != nil }
