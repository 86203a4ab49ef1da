package server

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anekit/anekit/ane"
)

// turns give the processors to compiles: as many run at a time as there are places. A compile that has run for
// a slice while others wait gives its place up, between two of its steps, and waits in the class of long ones. So a
// short compile waits for a slice, and not for the long ones of others. Within a class the client goes first that had
// its last turn longest ago.
type turns struct {
	slice   time.Duration
	waiting atomic.Int32 // in line, for reading without the lock

	mu   sync.Mutex
	free int
	line [classes][]*task  // in the order in which they came
	last map[uint64]uint64 // turn that each client had last; those in line, or running, and some more
	turn uint64
	row  int // turns of short ones in a row, while a long one waited
}

// Classes of compiles.
const (
	shortCompiles = iota // that have not run for a slice
	longCompiles         // that have, or whose text is long
	classes
)

// classOf is the class in which a compile of so much text begins: reading a long one takes more than a slice.
func classOf(text int) int {
	if text > shortText {
		return longCompiles
	}
	return shortCompiles
}

func newTurns(places int) *turns {
	return &turns{slice: compileSlice, free: places, last: map[uint64]uint64{}}
}

// task is a compile, the context of which it is. Its goroutine alone uses it.
type task struct {
	context.Context
	on     *turns
	client uint64
	cancel context.CancelFunc
	class  int
	ready  chan struct{} // closed when it is its turn

	holds bool          // a place
	since time.Time     // when it got that
	left  time.Duration // of its time, which ends while it holds a place
	timer *time.Timer
}

// do has work run in turn, with a context that ends with ctx, or when work has run for limit. The time in line does not
// count. The context is a task: work may call its Yield.
func (t *turns) do(ctx context.Context, client uint64, class int, limit time.Duration, op string,
	work func(context.Context) error) error {
	k := &task{on: t, client: client, class: class, left: limit}
	k.Context, k.cancel = context.WithCancel(ctx)
	defer k.cancel()
	t.mu.Lock()
	k.enter()
	t.mu.Unlock()
	if !k.wait() {
		return ane.Deadline(op, Name, ctx.Err())
	}
	defer k.give()
	return work(k)
}

// Yield gives the place up for a while if the task has had it for a slice and others wait. The engine calls it between
// steps; it returns early when the context ends.
func (k *task) Yield() {
	t := k.on
	if !k.holds || t.waiting.Load() == 0 || time.Since(k.since) < t.slice {
		return
	}
	k.class = longCompiles
	k.leave()
	t.mu.Lock() // it is in line as soon as its place is free: else any number of others could pass
	t.free++
	k.enter()
	t.mu.Unlock()
	k.wait()
}

// enter gets in line. The caller holds the lock.
func (k *task) enter() {
	k.ready = make(chan struct{})
	t := k.on
	t.line[k.class] = append(t.line[k.class], k)
	t.waiting.Add(1)
	t.next()
}

// wait waits for a place after enter, or reports that the context has ended.
func (k *task) wait() bool {
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

// give gives the place to the next one, if the task holds it.
func (k *task) give() {
	if !k.holds {
		return
	}
	k.leave()
	t := k.on
	t.mu.Lock()
	defer t.mu.Unlock()
	t.free++
	t.next()
}

// leave stops the time of a task that holds a place.
func (k *task) leave() {
	k.holds = false
	k.timer.Stop()
	k.left -= time.Since(k.since)
}

// remove takes k out of the line. The caller holds the lock.
func (t *turns) remove(k *task) bool {
	line := t.line[k.class]
	for i, x := range line {
		if x == k {
			t.line[k.class] = append(line[:i:i], line[i+1:]...)
			t.waiting.Add(-1)
			return true
		}
	}
	return false
}

// next gives free places to those whose turn it is. The caller holds the lock.
func (t *turns) next() {
	for t.free > 0 {
		k := t.due()
		if k == nil {
			return
		}
		t.remove(k)
		t.free--
		t.turn++
		if len(t.last) > 2*MaxClients { // of clients that have gone
			clear(t.last)
		}
		t.last[k.client] = t.turn
		close(k.ready)
	}
}

// due is the task whose turn it is. A long one has one turn after shortInRow of short ones. The caller holds the lock.
func (t *turns) due() *task {
	class := shortCompiles
	switch {
	case len(t.line[shortCompiles]) == 0:
		class, t.row = longCompiles, 0
	case len(t.line[longCompiles]) == 0:
		t.row = 0
	case t.row >= shortInRow:
		class, t.row = longCompiles, 0
	default:
		t.row++
	}
	var first *task
	for _, k := range t.line[class] {
		if first == nil || t.last[k.client] < t.last[first.client] {
			first = k
		}
	}
	return first
}
