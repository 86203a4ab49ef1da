package ane

import (
	"context"
	"sync"
)

// gate lets callers enter while it is open. Shutting it waits until all have left.
type gate struct {
	mu     sync.Mutex
	isOpen bool
	inside int
	empty  chan struct{} // closed by the last caller that leaves while shut waits
}

// enter reports whether the gate is open. If it is, the caller must call leave.
func (g *gate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.isOpen {
		g.inside++
	}
	return g.isOpen
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

// open opens the gate.
func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.isOpen = true
}

// shut closes the gate and waits until no caller is inside. If ctx ends first, it
// returns the error of ctx and the gate stays shut.
func (g *gate) shut(ctx context.Context) error {
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
