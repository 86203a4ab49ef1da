package unimem

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"sync/atomic"
)

// MaxCells is the largest number of cells of a Grid: it leaves 22 bits of a slot word for
// the generation.
const MaxCells = 1 << 20

// cellUnit is the granule of a cell in bytes: a cache line of the matrix unit.
const cellUnit = 64

// Grid deals cells of one size. Take and Give are lock-free, allocate nothing and answer a
// foreign, stale or doubly given cell with an error. All methods are safe for concurrent
// use.
//
// Free cells form a stack in Go memory. With b the bits that the number of cells needs,
// head is {tag 64-b bits, top b bits}, top all ones when the stack is empty: each pop raises
// the tag, so a pop or push that began before another pop ended fails its exchange even if
// the same cell is on top again. A push keeps the tag, for what it builds on is the top cell
// alone. A tag returns after 2^43 pops or more, a year of them.
//
// slots[i] is {generation 64-2b bits, depth b bits, next b bits}: next is the cell below,
// depth the number of cells from i down. It changes only while cell i is out:
//
//   - Take reads the word of the top cell and pops. The word stays; the Cell carries it.
//   - Give exchanges the carried word for one with the next generation and the new link.
//     Winning that exchange is the right to push; a second Give, or one of an older Cell,
//     finds another generation and loses. Only the winner writes the word until its push,
//     which publishes the word, and with it the bytes written to the cell.
//
// A stale Cell could pass for a good one only after exactly 2^(64-2b) gives of its own cell
// (or a multiple) with the same cells below: 2^58 in a Grid of 4 to 7 cells, 2^44 below 1024
// cells, 2^22 in the largest.
type Grid struct {
	_        [64]byte // head has a cache line of its own: everybody writes it
	head     atomic.Uint64
	_        [56]byte
	slots    []atomic.Uint64
	width    uint8  // b, the bits of an index or a depth
	index    uint64 // mask of b bits; as an index: none
	link     uint64 // mask of 2b bits: depth and next
	cellSize int
	life     *life
	blocks   []*Block // one for all cells, or one each
}

// NewGrid makes a Grid of cells of cellSize bytes each, carved out of one Block, or with
// SurfacePerCell each at the start of a Block of its own.
//
// Errors: ErrCellSize, ErrZeroSize (no cells), ErrSize (negative, more than MaxCells, or
// overflow), and those of Open.
func NewGrid(cellSize, cells int, opts ...Option) (*Grid, error) {
	if err := checkGrid(cellSize, cells); err != nil {
		return nil, err
	}
	b := bits.Len(uint(cells))
	g := &Grid{slots: make([]atomic.Uint64, cells), cellSize: cellSize, life: new(life),
		width: uint8(b), index: 1<<b - 1, link: 1<<(2*b) - 1}
	if err := g.open(configure(opts)); err != nil {
		return nil, err
	}
	// Cell 0 on top, the last cell at the bottom.
	for i := range cells {
		next := uint64(i + 1)
		if i+1 == cells {
			next = g.index
		}
		g.slots[i].Store(uint64(cells-i)<<b | next)
	}
	return g, nil
}

func checkGrid(cellSize, cells int) error {
	switch {
	case cellSize < 0:
		return &Error{Op: "grid", Size: cellSize, Err: ErrCellSize, Cause: ErrSize, Hint: "a cell size is a positive number of bytes"}
	case cellSize == 0:
		return &Error{Op: "grid", Err: ErrCellSize, Cause: ErrZeroSize, Hint: "ask for cells of at least 64 bytes"}
	case cellSize%cellUnit != 0:
		return &Error{Op: "grid", Size: cellSize, Err: ErrCellSize, Hint: "round the cell size up to a multiple of 64"}
	case cells == 0:
		return &Error{Op: "grid", Err: ErrZeroSize, Hint: "ask for at least one cell"}
	case cells < 0 || cells > MaxCells:
		return &Error{Op: "grid", Size: cellSize, Err: ErrSize,
			Hint: fmt.Sprintf("a grid has 1 to %d cells, not %d", MaxCells, cells)}
	case cellSize > math.MaxInt/cells:
		return &Error{Op: "grid", Size: cellSize, Err: ErrSize, Hint: "cells times cell size overflows"}
	}
	return nil
}

// open makes the Blocks, all or none.
func (g *Grid) open(c config) (err error) {
	if err := refuseLibrary(c, "grid", g.cellSize); err != nil {
		return err
	}
	size, count := g.cellSize*len(g.slots), 1
	if c.PerCell {
		// Checked for all cells together, for one by one each would look affordable.
		if err := checkMemory("grid", size); err != nil {
			return err
		}
		size, count = g.cellSize, len(g.slots)
	}
	defer func() {
		if len(g.blocks) < count { // failed, or left by a panic of a function given to OnExhausted
			_, _ = g.life.end()
			err = errors.Join(err, g.tearDown())
		}
	}()
	for range count {
		b, err := openBlock(size, c, g.life, true)
		if err != nil {
			return err
		}
		g.blocks = append(g.blocks, b)
	}
	return nil
}

// Total is the number of cells; it does not change.
func (g *Grid) Total() int {
	if g == nil {
		return 0
	}
	return len(g.slots)
}

// CellSize is the size of a cell in bytes; it does not change.
func (g *Grid) CellSize() int {
	if g == nil {
		return 0
	}
	return g.cellSize
}

// Close gives the memory back, once; repeating it returns nil. ErrInUse while a Block of
// the Grid is retained: nothing has changed then. Cells that are out become stale.
func (g *Grid) Close() error {
	if g == nil || g.life == nil {
		return nil
	}
	first, err := endLife(g.life, g.cellSize*len(g.slots))
	if !first {
		return err
	}
	g.stopTakes()
	g.stopGives()
	return g.tearDown()
}

// stopTakes empties the stack for good: with the life ended, nothing is pushed any more.
func (g *Grid) stopTakes() {
	for {
		h := g.head.Load()
		if g.head.CompareAndSwap(h, (h|g.index)+1|g.index) {
			return
		}
	}
}

// stopGives moves every cell to another generation, so that those out become stale.
func (g *Grid) stopGives() {
	for i := range g.slots {
		g.slots[i].Add(g.link + 1)
	}
}

func (g *Grid) tearDown() error {
	var errs []error
	for _, b := range g.blocks {
		errs = append(errs, b.tearDown())
	}
	return errors.Join(errs...)
}
