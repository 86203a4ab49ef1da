package unimem

import "errors"

// NearWrap sets the counters of a fresh Grid a few steps before they wrap around.
func NearWrap(g *Grid) {
	g.head.Store(^g.index - 2*(g.index+1) | g.head.Load()&g.index)
	for i := range g.cells {
		g.words[i].Store(g.words[i].Load() | g.gen - 2*(g.index+1))
	}
}

// NearWrapID sets the counter of ids shortly before its wrap-around.
func NearWrapID() { process.lastID.Store(^uint32(0) - 2) }

// Forget opens a Block and makes it unreachable. The returned function frees its memory and
// corrects the counters.
func Forget(size int, opts ...Option) (func() error, error) {
	b, err := Open(size, opts...)
	if err != nil {
		return nil, err
	}
	back := b.back
	return func() error {
		process.blocks.Add(-1)
		process.bytes.Add(-int64(len(back.about().mem)))
		return back.close(false)
	}, nil
}

// Head returns the head of a Grid, for the steps below.
func Head(g *Grid) uint64 { return g.head.Load() }

// Top returns the top cell of a head.
func Top(g *Grid, head uint64) uint64 { return head & g.index }

// TakeFrom is the step of Take after it has read the head.
func TakeFrom(g *Grid, head uint64) bool {
	_, ok := g.pop(head)
	return ok
}

// FreeFrom is the step of Free, and of Take before it finds the Grid full, after it has read the head.
func FreeFrom(g *Grid, head uint64) (int, bool) { return g.freeAt(head) }

// StopStack is the step of Close that stops the stack; the returned function does the rest, which reports whether the
// Grid is closed.
func StopStack(g *Grid) func() (bool, error) {
	h := g.head.Load()
	g.head.Store(g.noCell(h))
	return func() (bool, error) {
		_, done, err := g.stopFirst(h)
		return done, err
	}
}

// EndLife is the first step of Close with StaleOnClose; the returned function is the last.
func EndLife(g *Grid) func() error {
	_, _ = g.life.end()
	return g.tearDown
}

// StopFirst is the step of Close that stops the first cell; the returned function makes it as it was.
func StopFirst(g *Grid) func() {
	v := g.first.Swap(stopped)
	return func() { g.first.Store(v) }
}

// HalfClose does the first half of Close; the returned function does the second.
func HalfClose(g *Grid) func() error {
	_, err := g.life.end()
	g.stopTakes()
	return func() error {
		g.stopGives()
		return errors.Join(err, g.tearDown())
	}
}

// Holders is the number of functions registered by OnExhausted.
func Holders() int { return len(process.exhaustion.list()) }

// MachineMemory is the memory of the machine in bytes.
func MachineMemory() uint64 { return process.memory() }

// LastID is the last id of a Block without an id of the system.
func LastID() uint32 { return process.lastID.Load() }
