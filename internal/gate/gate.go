// Package gate counts the calls that are inside of an object, and lets its Close or Unload wait for them.
package gate

import (
	"context"
	"sync"
)

// Gate lets callers enter while it is open. Shutting it waits until all have left. The zero Gate is shut.
type Gate struct {
	mu     sync.Mutex
	isOpen bool
	inside int
	empty  chan struct{} // closed by the last caller that leaves while Shut waits
}

// Enter reports whether the Gate is open. If it is, the caller must call Leave.
func (g *Gate) Enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.isOpen {
		g.inside++
	}
	return g.isOpen
}

// Leave ends what Enter began.
func (g *Gate) Leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside--
	if g.inside == 0 && g.empty != nil {
		close(g.empty)
		g.empty = nil
	}
}

// Open opens the Gate.
func (g *Gate) Open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.isOpen = true
}

// Shut shuts the Gate and waits until no caller is inside. If ctx ends first, it returns the error of ctx and the Gate
// stays shut.
func (g *Gate) Shut(ctx context.Context) error {
	g.mu.Lock()
	g.isOpen = false
	if g.inside == 0 {
		g.mu.Unlock()
		return nil
	}
	if g.empty == nil {
		g.empty = make(chan struct{})
	}
	wait := g.empty
	g.mu.Unlock()
	select {
	case <-wait:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
