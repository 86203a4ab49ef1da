package server

import (
	"context"
	"os"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/driver"
)

// frugal is an engine that compiles with at most room bytes for constants that it computes.
type frugal interface {
	CompileWithin(ctx context.Context, src ane.Source, room int64) (ane.Executable, error)
}

// CompileWithin implements frugal. An engine that is not frugal compiles all the same.
func (g *guarded) CompileWithin(ctx context.Context, src ane.Source, room int64) (x ane.Executable, err error) {
	own, ok := g.Engine.(frugal)
	if !ok {
		return g.Compile(ctx, src)
	}
	err = g.call("compile", nil, func() error {
		made, err := own.CompileWithin(ctx, src, room)
		if err == nil {
			x = g.wrap(made)
		}
		return err
	})
	return x, err
}

// Footprint implements driver.Measured. A program that does not tell takes nothing.
func (p *guardedProgram) Footprint() (held, loaded, bound int64) {
	if own, ok := p.Executable.(driver.Measured); ok {
		return own.Footprint()
	}
	return 0, 0, 0
}

// Footprint implements driver.Measured.
func (b *base) Footprint() (held, loaded, bound int64) {
	if own, ok := b.Executable.(driver.Measured); ok {
		return own.Footprint()
	}
	return 0, 0, 0
}

// footprint is what an engine takes for a program, of each client that has it: until it is released, and while it is
// loaded.
func footprint(p *resident) (held, loaded needs) {
	if own, ok := p.exec.(driver.Measured); ok {
		more, scratch, _ := own.Footprint()
		held.memory = more
		if scratch > 0 {
			loaded = needs{mappings: 1, descriptors: 1, memory: scratch}
		}
	}
	return held, loaded
}

// shares are what each client is charged for that holds the program, once for all its handles, and once for all its
// programs that compute with the same weights. A program that several clients share counts for each of them.
func (p *resident) shares() []share {
	held, _ := footprint(p)
	held = held.plus(p.files)
	held.memory += p.source
	return append([]share{{shareKey{program: p}, held}}, p.lent...)
}

// compileWork is what compiling takes besides what stays: the tree of the text.
func compileWork(text int64) int64 { return treeBytes * text }

// entrySize is how long an entry of the cache is, which is read into memory; 0 for none.
func (c *compiles) entrySize(key Key) int64 {
	if c.cache.dir == "" {
		return 0
	}
	info, err := os.Lstat(c.cache.path(c.grant.ID, key))
	if err != nil || !info.Mode().IsRegular() || info.Size() > c.cache.bound { // load finds out
		return 0
	}
	return info.Size()
}
