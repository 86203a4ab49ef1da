package kv

import (
	"errors"
	"sync"

	"github.com/anekit/anekit/internal/errtext"
	"github.com/anekit/anekit/unimem"
)

// shares is the record of the forks that share the pages of one cache, their owner. The owner writes slots that no
// fork uses; every other write moves the writer.
type shares struct {
	mu    sync.Mutex
	forks map[*Cache]int // to the position after the tokens that the fork shares
}

// Fork makes a second cache with the same tokens, without those appended without Advance. On Linux both share their
// pages until a write to the fork, or a write to the cache at tokens that the fork has, as after Truncate. The writer
// then moves to new memory. The cache continues after those tokens in place. Elsewhere, on the heap, and in a cache of
// NewOn, Fork copies the tokens once. Either may be closed first.
//
// The tensors of a fork that shares pages show the shared memory: after the fork's tokens other bytes may appear at
// any time. An engine must not write to them.
//
// Errors: ErrClosed, ane.ErrStale, and those of unimem.Start.
func (c *Cache) Fork() (*Cache, error) {
	if err := c.usable("fork"); err != nil {
		return nil, err
	}
	f := &Cache{config: c.config, opts: c.opts, slides: c.slides, sparing: c.sparing, token: c.token, row: c.row,
		first: min(c.first, c.next), next: c.next, pending: make([]int, c.config.Layers)}
	var err error
	if c.memory.lent == nil { // pages of a Tape are used again after its Clear
		if f.memory, err = adoptMemory(c.config, c.memory); err == nil {
			f.borrowed = true
			c.lend(f)
			return f, nil
		}
		if !errors.Is(err, unimem.ErrShare) {
			return nil, &Error{Base: errtext.Base{Op: "fork", Cause: err}}
		}
	}
	if f.memory, err = newMemory(c.config, c.memory.tokens, c.opts); err != nil {
		return nil, &Error{Base: errtext.Base{Op: "fork", Cause: err}}
	}
	f.copied = int64(f.memory.copySlots(c.memory, func(int) int { return min(c.next, c.memory.tokens) }))
	return f, nil
}

// Detach moves a cache that shares pages to new memory of its own now, instead of at its first write, so that its
// tensors stay valid from then on. Without shared pages it does nothing.
//
// Errors: ErrClosed, ane.ErrStale, and those of unimem.Start.
func (c *Cache) Detach() error {
	if err := c.usable("detach"); err != nil {
		return err
	}
	if !c.shared(0) {
		return nil
	}
	return c.move("detach", c.memory.tokens)
}

// lend records that f shares the pages of c.
func (c *Cache) lend(f *Cache) {
	if c.shares == nil {
		c.shares = &shares{forks: map[*Cache]int{}}
	}
	f.shares = c.shares
	c.shares.mu.Lock()
	defer c.shares.mu.Unlock()
	c.shares.forks[f] = f.next
}

// shared reports whether another cache has tokens in the slots of position from and after.
func (c *Cache) shared(from int) bool {
	if c.shares == nil || c.borrowed {
		return c.borrowed
	}
	c.shares.mu.Lock()
	defer c.shares.mu.Unlock()
	for _, end := range c.shares.forks {
		if c.slides || from < end {
			return true
		}
	}
	return false
}

// leave ends the sharing of pages.
func (c *Cache) leave() {
	if c.shares != nil {
		c.shares.mu.Lock()
		delete(c.shares.forks, c)
		c.shares.mu.Unlock()
	}
	c.shares, c.borrowed = nil, false
}
