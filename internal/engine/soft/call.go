package soft

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"

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
	words   [][]int32   // work again, or other memory of its length, for integers; nil in the reference mode
	ctx     context.Context

	round    uint64                    // evaluations since the load before this one
	fault    atomic.Pointer[ane.Error] // what makes the run fail
	budget   *int                      // while folding: the remaining work
	declined bool                      // the step exceeded the budget and did not run
}

// workers is the number of goroutines that share a large step. The process reads
// it once, since the size of workspaces depends on it.
var workers = min(runtime.GOMAXPROCS(0), 16)

// grain is the least work, in the units of spread, for which another goroutine
// pays: about 50 us of elementwise arithmetic.
const grain = 1 << 15

// spread calls span over [0, n) in up to workers pieces. cost is the work of one
// item; the arithmetic of one element counts as 1. Small work runs in the caller's
// goroutine and allocates nothing.
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

// fork runs span on several goroutines. A panic in one of them is a panic of the caller,
// once all have ended.
func (c *call) fork(n, pieces int) {
	var wg sync.WaitGroup
	var first atomic.Pointer[forwarded]
	faults := debug.SetPanicOnFault(false)
	debug.SetPanicOnFault(faults)
	for w := 1; w < pieces; w++ {
		wg.Go(func() {
			debug.SetPanicOnFault(faults) // as in the caller's goroutine
			defer func() {
				if v := recover(); v != nil {
					first.CompareAndSwap(nil, &forwarded{v, debug.Stack()})
				}
			}()
			c.run.span(c, n*w/pieces, n*(w+1)/pieces, w)
		})
	}
	func() {
		defer wg.Wait() // after a panic too: the workers write to the tensors
		c.run.span(c, 0, n/pieces, 0)
	}()
	if f := first.Load(); f != nil {
		panic(f)
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
