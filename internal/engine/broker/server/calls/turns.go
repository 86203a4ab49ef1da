package calls

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/server/resources"
)

// compileSlice is how long a compile runs before it gives way to others, between two of its steps. A compile of a
// ready program takes 1 to 30 ms.
const compileSlice = 50 * time.Millisecond

// Turns give the processors to compiles: as many run at a time as there are places. The client goes first whose
// compiles have had places for the least time, from when it got in line. A compile that has run for a slice while
// others wait gives its place up, between two of its steps, and gets in line again. So a short compile of a client that
// has others seldom waits for a slice, and not for the long ones of others.
type Turns struct {
	Slice   time.Duration
	Waiting atomic.Int32 // in line
	Given   atomic.Int64 // turns

	mu   sync.Mutex
	free int
	line []*turn                  // in the order in which they came
	used map[uint64]time.Duration // by client: time with a place, besides what others had before it came
	now  time.Duration            // what the client had used that went last: a client that comes has used as much
}

// NewTurns makes turns with so many places.
func NewTurns(places int) *Turns {
	return &Turns{Slice: compileSlice, free: places, used: map[uint64]time.Duration{}}
}

// turn is a compile, the context of which it is. Its goroutine alone uses it.
type turn struct {
	context.Context
	on     *Turns
	client uint64
	cancel context.CancelFunc
	ready  chan struct{} // closed when it is its turn

	holds bool          // a place
	since time.Time     // when it got that
	left  time.Duration // of its time, which ends while it holds a place
	timer *time.Timer
}

// Do has work run in turn, with a context that ends with ctx, or when work has run for limit. The time in line does not
// count. The context has a method Yield, which work may call.
func (t *Turns) Do(ctx context.Context, client uint64, limit time.Duration, op string,
	work func(context.Context) error) error {
	k := &turn{on: t, client: client, left: limit}
	k.Context, k.cancel = context.WithCancel(ctx)
	defer k.cancel()
	t.mu.Lock()
	k.enter()
	t.mu.Unlock()
	if !k.wait() {
		return ane.Deadline(op, resources.Name, ctx.Err())
	}
	defer func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		k.leave()
		t.next()
	}()
	return work(k)
}

// Yield gives the place up for a while if the compile has had it for a slice and others wait. The engine calls it
// between steps; it returns early when the context ends.
func (k *turn) Yield() {
	t := k.on
	if !k.holds || t.Waiting.Load() == 0 || time.Since(k.since) < t.Slice {
		return
	}
	t.mu.Lock() // it is in line as soon as its place is free: else any number of others could pass
	k.leave()
	k.enter()
	t.mu.Unlock()
	k.wait()
}

// enter gets in line. The caller holds the lock.
func (k *turn) enter() {
	k.ready = make(chan struct{})
	t := k.on
	t.used[k.client] = max(t.used[k.client], t.now)
	t.line = append(t.line, k)
	t.Waiting.Add(1)
	t.next()
}

// wait waits for a place after enter, or reports that the context has ended.
func (k *turn) wait() bool {
	t := k.on
	select {
	case <-k.ready:
	case <-k.Done():
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.remove(k) {
			return false
		}
		<-k.ready // its turn has come as well
	}
	k.holds, k.since = true, time.Now()
	k.timer = time.AfterFunc(k.left, k.cancel)
	return true
}

// leave gives up the place, if the compile holds one. The caller holds the lock.
func (k *turn) leave() {
	if !k.holds {
		return
	}
	k.holds = false
	k.timer.Stop()
	took := time.Since(k.since)
	k.left -= took
	k.on.used[k.client] += took
	k.on.free++
}

// remove takes k out of the line, if it is there. The caller holds the lock.
func (t *Turns) remove(k *turn) bool {
	i := slices.Index(t.line, k)
	if i >= 0 {
		t.line = slices.Delete(t.line, i, i+1)
		t.Waiting.Add(-1)
	}
	return i >= 0
}

// next gives free places to those whose turn it is. The caller holds the lock.
func (t *Turns) next() {
	for t.free > 0 && len(t.line) > 0 {
		first := t.line[0]
		for _, k := range t.line {
			if t.used[k.client] < t.used[first.client] {
				first = k
			}
		}
		t.remove(first)
		t.free--
		t.Given.Add(1)
		t.now = max(t.now, t.used[first.client])
		if len(t.used) > 256 { // among them clients that have gone
			maps.DeleteFunc(t.used, func(_ uint64, used time.Duration) bool { return used <= t.now })
		}
		close(first.ready)
	}
}
