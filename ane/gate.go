package ane

import (
	"context"
	"sync"
)

// gate lets callers in while it is open and, when shut, waits for those inside.
type gate struct {
	mu     sync.Mutex
	open   bool
	inside int
	empty  chan struct{} // closed by the last leaver while somebody waits
}

// enter reports whether the gate was open; then leave must follow.
func (g *gate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open {
		g.inside++
	}
	return g.open
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside--
	if g.inside == 0 && g.empty != nil {
		close(g.empty)
		g.empty = nil
	}
}

// unlock opens the gate.
func (g *gate) unlock() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open = true
}

// shut closes the gate and waits until nobody is inside. When ctx ends first it
// returns ctx's error and the gate stays shut.
func (g *gate) shut(ctx context.Context) error {
	g.mu.Lock()
	g.open = false
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
