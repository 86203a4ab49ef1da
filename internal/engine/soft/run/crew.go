package run

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// patience bounds for how long a goroutine looks for work, or for the end of others, without giving up its processor.
// On virtual machines an idle processor took 50 to 250 us until it computed again. That is as long as half of a product
// of a language model's step.
const patience = 200 * time.Microsecond

// Crew is the goroutines that compute pieces of large steps for their callers. One that has computed a piece looks for
// another for as long as that took, at most for patience. So none looks for longer than it computes, and none is left
// soon after the last run.
type Crew struct {
	mu      sync.Mutex
	looking []*helper // without work
	ended   []*helper // without a goroutine
}

// helper is a goroutine of a crew.
type helper struct {
	crew  *Crew
	serve func() // the goroutine, a variable so that starting it does not allocate
	next  atomic.Pointer[forked]
	piece int // of next
}

// start has a helper compute a piece.
func (c *Crew) start(f *forked, piece int) {
	h, looks := c.pick()
	h.piece = piece
	h.next.Store(f)
	if !looks {
		go h.serve()
	}
}

// pick returns a helper for the work of the caller, and whether it is looking for work.
func (c *Crew) pick() (h *helper, looks bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(c.looking); n > 0 {
		h, c.looking = c.looking[n-1], c.looking[:n-1]
		return h, true
	}
	if n := len(c.ended); n > 0 {
		h, c.ended = c.ended[n-1], c.ended[:n-1]
		return h, false
	}
	h = &helper{crew: c}
	h.serve = h.work
	return h, false
}

// work computes pieces until there is none for a while.
func (h *helper) work() {
	for f := h.next.Load(); f != nil; {
		h.next.Store(nil)
		began := time.Now()
		f.compute(h.piece)
		limit := time.Since(began)
		h.look() // before the caller continues: its next step needs a helper
		f.end()
		f = h.find(limit)
	}
}

// look tells the crew that the helper has no work.
func (h *helper) look() {
	h.crew.mu.Lock()
	defer h.crew.mu.Unlock()
	h.crew.looking = append(h.crew.looking, h)
}

// find waits for work, and returns nil if there is none for a while.
func (h *helper) find(limit time.Duration) *forked {
	if await(limit, func() bool { return h.next.Load() != nil }) || !h.leave() {
		for h.next.Load() == nil { // start is about to store it
			runtime.Gosched()
		}
	}
	return h.next.Load()
}

// leave tells the crew that the helper's goroutine ends. It returns false if the helper was picked meanwhile.
func (h *helper) leave() bool {
	h.crew.mu.Lock()
	defer h.crew.mu.Unlock()
	i := slices.Index(h.crew.looking, h)
	if i < 0 {
		return false
	}
	h.crew.looking = slices.Delete(h.crew.looking, i, i+1)
	h.crew.ended = append(h.crew.ended, h)
	return true
}

// await lets other goroutines run until a condition holds, for at most limit and patience. It reports whether it holds.
func await(limit time.Duration, holds func() bool) bool {
	limit = min(limit, patience)
	for began := time.Now(); !holds(); runtime.Gosched() {
		if time.Since(began) >= limit {
			return false
		}
	}
	return true
}
