package calls

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/server/resources"
)

// compileSlice is how long a compile runs before it gives way to others, between two of its steps. A compile of a
// ready program takes 1 to 30 ms.
const compileSlice = 50 * time.Millisecond

// Turns give the processors to compiles: as many run at a time as there are places, in the order in which they came. A
// compile that has run for a slice while others wait gives its place up, between two of its steps, and gets in line
// again. So a short compile waits for a slice of each that was there before it, and not for their ends.
type Turns struct {
	Slice   time.Duration
	Waiting atomic.Int32 // in line
	Given   atomic.Int64 // turns

	places chan struct{} // a token for each that is taken; those who wait to send are served in their order
}

// NewTurns makes turns with so many places.
func NewTurns(places int) *Turns {
	return &Turns{Slice: compileSlice, places: make(chan struct{}, places)}
}

// turn is a compile, the context of which it is. Its goroutine alone uses it.
type turn struct {
	context.Context
	on     *Turns
	cancel context.CancelFunc

	holds bool          // a place
	since time.Time     // when it got that
	left  time.Duration // of its time, which ends while it holds a place
	timer *time.Timer
}

// Do has work run in turn, with a context that ends with ctx, or when work has run for limit. The time in line does not
// count. The context has a method Yield, which work may call.
func (t *Turns) Do(ctx context.Context, limit time.Duration, op string, work func(context.Context) error) error {
	k := &turn{on: t, left: limit}
	k.Context, k.cancel = context.WithCancel(ctx)
	defer k.cancel()
	k.enter()
	if !k.holds {
		return ane.Deadline(op, resources.Name, ctx.Err())
	}
	defer k.leave()
	return work(k)
}

// Yield gives the place up for a while if the compile has had it for a slice and others wait. The engine calls it
// between steps; it returns early when the context ends.
func (k *turn) Yield() {
	if k.holds && k.on.Waiting.Load() > 0 && time.Since(k.since) >= k.on.Slice {
		k.leave()
		k.enter()
	}
}

// enter gets in line and waits for a place, or for the end of the context.
func (k *turn) enter() {
	k.on.Waiting.Add(1)
	select {
	case k.on.places <- struct{}{}:
		k.holds, k.since = true, time.Now()
		k.timer = time.AfterFunc(k.left, k.cancel)
		k.on.Given.Add(1)
	case <-k.Done():
	}
	k.on.Waiting.Add(-1)
}

// leave gives up the place, if the compile holds one.
func (k *turn) leave() {
	if k.holds {
		k.holds = false
		k.timer.Stop()
		k.left -= time.Since(k.since)
		<-k.on.places
	}
}
