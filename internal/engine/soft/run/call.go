package run

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
	"github.com/anekit/anekit/ane/mil"
)

// Runner is a prepared step. All runs share it and it does not change. run passes
// the size of its work to c.spread, which calls span.
type Runner interface {
	Run(c *Call)
	Span(c *Call, lo, hi, worker int)
}

// Call is one step tied to the memory of one invocation.
type Call struct {
	Run       Runner
	In, Out   []Vec
	Work      [][]float32 // one for each worker
	Workers   int         // how many goroutines may share the step
	Words     [][]int32   // work again, as integers
	Rooms     []Vec       // work again, as halves
	Crew      *Crew       // of the engine; nil for one of the call's own
	forked    *forked     // of the last fork
	Joined    []Call      // of the steps that compute on each piece of the result
	extra     int         // work of these for one element
	finishing *Finishing  // of these; nil for none
	Ctx       context.Context
	Yields    Yielder // the context, if it is one

	Leaps bool // the next step is To
	To    int

	Round    uint64 // evaluations since the load before this one
	dealt    int
	taken    atomic.Int64              // of the items that were dealt
	Fault    atomic.Pointer[ane.Error] // what makes the run fail
	Budget   *int                      // while folding: the remaining work
	Declined bool                      // the step exceeded the budget and did not run
}

// maxWorkers bounds the goroutines that share a large step, and with them the workspaces.
const maxWorkers = 16

// Parallel is the number of goroutines that share a large step: as many as processors, at most bound unless that is 0.
func Parallel(bound int) int {
	n := min(runtime.GOMAXPROCS(0), maxWorkers)
	if bound > 0 {
		n = min(n, bound)
	}
	return n
}

// grain is the least work, in the units of spread, for which another goroutine
// pays: about 50 us of elementwise arithmetic.
const grain = 1 << 15

// Spread calls span over [0, n) in up to c.workers pieces. cost is the work of one item; the arithmetic of one element
// counts as 1. Small work runs in the caller's goroutine and allocates nothing.
func (c *Call) Spread(n, cost int) {
	switch pieces := c.pieces(n, cost); pieces {
	case 0:
	case 1:
		c.Span(0, n, 0)
	default:
		c.fork(n, pieces)
	}
}

// Deal is spread for runners whose span computes the items that take returns, so that a goroutine that begins late has
// fewer of them.
func (c *Call) Deal(n, cost int) {
	c.dealt = n
	c.taken.Store(0)
	c.Spread(n, cost)
}

// Take returns the first item of deal that no goroutine has taken, and false if there is none.
func (c *Call) Take() (item int, ok bool) {
	item = int(c.taken.Add(1)) - 1
	return item, item < c.dealt
}

// pieces is in how many pieces goroutines share n items; 0 if the budget does not suffice for them.
func (c *Call) pieces(n, cost int) int {
	work := math.MaxInt
	cost += c.extra
	if cost <= work/max(n, 1) {
		work = n * cost
	}
	if c.Budget != nil {
		if *c.Budget -= min(work, *c.Budget+1); *c.Budget < 0 {
			c.Declined = true
			return 0
		}
	}
	return max(min(c.Workers, n, work/grain), 1)
}

// forked is what the goroutines of a step share. A call keeps it, so that only its first fork allocates.
type forked struct {
	c      *Call
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
	f.c.Span(f.n*w/f.pieces, f.n*(w+1)/f.pieces, w)
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

// fork runs span on several goroutines. A panic in one of them is a panic of the caller, once all have ended.
func (c *Call) fork(n, pieces int) {
	if c.forked == nil {
		c.forked = &forked{c: c}
	}
	if c.Crew == nil {
		c.Crew = &Crew{}
	}
	f := c.forked
	f.n, f.pieces = n, pieces
	f.first.Store(nil)
	f.faults = debug.SetPanicOnFault(false)
	debug.SetPanicOnFault(f.faults)
	f.left.Store(int32(pieces - 1))
	f.done.Add(pieces - 1)
	for w := 1; w < pieces; w++ {
		c.Crew.start(f, w)
	}
	began := time.Now()
	func() {
		defer f.join(began) // after a panic too: the workers write to the tensors
		c.Span(0, n/pieces, 0)
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

// Stopped reports whether the context has ended. Kernels check it between blocks of work of a few milliseconds.
func (c *Call) Stopped() bool { return c.Ctx.Err() != nil }

// Refuse records a fault of the run: an index k of an axis of length n. The first counts.
func (c *Call) Refuse(op string, k, n int) {
	if c.Fault.Load() == nil {
		c.Fault.CompareAndSwap(nil, &ane.Error{Op: "evaluate", Engine: Name, Name: op, Err: ane.ErrShape,
			Detail: fmt.Sprintf("index %d of an axis of length %d", k, n), Rule: "validate_indices = bool(true)",
			Hint: "give indices from 0 to the last of the axis"})
	}
}

// AddRoom adds the workspace of a worker: as float32s, as int32s and as halves.
func (c *Call) AddRoom(room []byte) error {
	floats, err := View(mil.FP32, room)
	ints, _ := View(mil.Int32, room) // what is aligned for float32 is so for the others
	half, _ := View(mil.FP16, room)
	c.Work, c.Words, c.Rooms = append(c.Work, floats.Single), append(c.Words, ints.Ints), append(c.Rooms, half)
	return err
}

// Yielder is a context whose owner has more urgent work now and then: Yield does it, and returns when the run may go
// on. It may evaluate other programs, and never this one. A run calls it between two steps, and between two parts of
// the caller's piece of a step.
type Yielder interface{ Yield() }

// Between is called between two steps of a compile, or of the linking of an instance. It returns the error of a
// context that has ended.
func Between(ctx context.Context) error {
	if y, ok := ctx.(Yielder); ok {
		y.Yield()
	}
	return ctx.Err()
}

// Chunk is how many elements a kernel decodes, computes and rounds at a time:
// three chunks of float32 stay within a first-level cache.
const Chunk = 1024

// Name is the engine's name on receipts.
const Name = "soft"
