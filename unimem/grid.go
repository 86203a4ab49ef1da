package unimem

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"sync"
	"sync/atomic"
)

// MaxCells is the largest number of cells of a Grid: it leaves 22 bits of a slot's word for the generation.
const MaxCells = 1 << 20

// cellUnit is the granule of a cell in bytes: a cache line of the matrix unit.
const cellUnit = 64

// Grid allocates cells of one size. Take and Give are lock-free and allocate nothing. Give returns an error for a
// foreign or stale cell and for one that is given twice. All methods are safe for concurrent use.
type Grid struct {
	// Free cells form a stack in Go memory. b is the number of bits of a cell index. head is {tag 64-b bits, top b
	// bits}; top is all ones when the stack is empty. Each pop increments the tag, so that the compare-exchange of a
	// concurrent pop or push fails even if the same cell is on top again. A push keeps the tag, because it depends only
	// on the top cell. A tag repeats after at least 2^43 pops, so only a Take that is suspended for at least a day
	// between two instructions can miss a change.
	//
	// slots[i].word is {generation 64-2b bits, depth b bits, next b bits}: next is the cell below, depth the number of
	// cells from i down. slots[i].era counts how often the generation began again. Both change only while cell i is
	// taken:
	//
	//   - Take reads word and era of the top cell and pops. They do not change; the Cell has a copy.
	//   - Give exchanges the Cell's word for one with the next generation and the new link. If the exchange succeeds,
	//     Give may push; a second Give, or one of an older Cell, finds another generation or era and fails. Only the
	//     successful Give writes the slot until its push, which publishes the slot and the bytes written to the cell.
	//   - The Give that reaches the last generation increments the era before it begins again at generation 0. No Cell
	//     has the last generation, so none fits the slot in between.
	//
	// Generation and era have at least 54 bits together: gives of one cell for years. A Give that finds its own word
	// and era is the current one. It is accepted wrongly only if two things happen between this look and its exchange.
	// A Give of a copy succeeds, and exactly 2^(64-2b) more gives of the cell (or a multiple) end with the same link.
	// That is 2^22 gives in the largest Grid, 2^44 below 1024 cells.

	_        [64]byte // head has its own cache line, because every Take and Give writes it
	head     atomic.Uint64
	_        [56]byte
	slots    []slot
	width    uint8  // b, the bits of an index or a depth
	index    uint64 // mask of b bits; as an index it means no cell
	link     uint64 // mask of 2b bits: depth and next
	cellSize int
	life     *life
	blocks   []*Block // one for all cells, or one for each
	stale    bool     // Close does not wait for cells
	// closer is held by a Close that checks the cells. closing is true meanwhile: an empty stack then does not mean
	// that all cells are taken.
	closer  sync.Mutex
	closing atomic.Bool
}

// slot is the state of a cell; see Grid.
type slot struct {
	word atomic.Uint64
	era  atomic.Uint32
}

// NewGrid makes a Grid of cells of cellSize bytes each, in one Block, or with SurfacePerCell each at the start of its
// own Block. The caller closes the Grid, which owns its Blocks.
//
// Errors: ErrCellSize, ErrZeroSize (no cells), ErrSize (negative, more than MaxCells, or overflow), and those of Open.
func NewGrid(cellSize, cells int, opts ...Option) (*Grid, error) {
	if err := checkGrid(cellSize, cells); err != nil {
		return nil, err
	}
	b := bits.Len(uint(cells))
	c := configure(opts)
	g := &Grid{slots: make([]slot, cells), cellSize: cellSize, life: new(life), stale: c.Stale,
		width: uint8(b), index: 1<<b - 1, link: 1<<(2*b) - 1}
	if err := g.open(c); err != nil {
		return nil, err
	}
	// Cell 0 on top, the last cell at the bottom.
	for i := range cells {
		next := uint64(i + 1)
		if i+1 == cells {
			next = g.index
		}
		g.slots[i].word.Store(uint64(cells-i)<<b | next)
	}
	return g, nil
}

func checkGrid(cellSize, cells int) error {
	switch {
	case cellSize < 0:
		return because("grid", cellSize, ErrCellSize, ErrSize, "a cell size is a positive number of bytes")
	case cellSize == 0:
		return because("grid", 0, ErrCellSize, ErrZeroSize, "make cells of at least 64 bytes")
	case cellSize%cellUnit != 0:
		return fail("grid", cellSize, ErrCellSize, "round the cell size up to a multiple of 64")
	case cells == 0:
		return fail("grid", 0, ErrZeroSize, "make at least one cell")
	case cells < 0 || cells > MaxCells:
		return fail("grid", cellSize, ErrSize, fmt.Sprintf("a grid has 1 to %d cells, not %d", MaxCells, cells))
	case cellSize > math.MaxInt/cells:
		return fail("grid", cellSize, ErrSize, "cells times cell size overflows")
	}
	return nil
}

// open makes the Blocks, all or none.
func (g *Grid) open(c config) (err error) {
	if err := refuse(c, forGrid, "grid", g.cellSize); err != nil {
		return err
	}
	size, count := g.bytes(), 1
	if c.PerCell {
		size, count = g.cellSize, len(g.slots)
		if err := checkCells(size, count, c.Heap); err != nil {
			return err
		}
	}
	defer func() {
		if len(g.blocks) < count { // failed, or a function of OnExhausted panicked
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

// checkCells checks all cells together: each alone would pass.
func checkCells(size, count int, onHeap bool) error {
	sum, err := roundSizes("grid", count, size)
	if err != nil || !onHeap {
		return err
	}
	_, err = recovering(func() (struct{}, error) { return struct{}{}, checkRoom("grid", sum+heapExtra*count) })
	return err
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

// Close frees the memory, once; repeating it returns nil. With StaleOnClose, taken cells become stale.
//
// Errors: ErrInUse (cells are taken, without StaleOnClose, or a Block of the Grid is retained; Close has changed
// nothing), ErrRelease.
func (g *Grid) Close() error {
	if g == nil || g.life == nil {
		return nil
	}
	end := g.endIdle
	if g.stale {
		end = g.endStale
	}
	first, err := end()
	if !first {
		return err
	}
	return g.tearDown()
}

// endIdle ends the life if all cells are free. A Take that meets it on an empty stack waits without giving its thread
// away, so errors are made only afterwards.
func (g *Grid) endIdle() (bool, error) {
	g.closer.Lock()
	defer g.closer.Unlock()
	g.closing.Store(true)
	first, out, err := g.stop()
	g.closing.Store(false)
	switch {
	case out > 0:
		return false, because("close", g.bytes(), ErrInUse, fmt.Errorf("%d of %d cells are taken", out, len(g.slots)),
			"give them first, or make the Grid with StaleOnClose")
	case err != nil:
		return false, inUse(g.bytes(), err)
	}
	return first, nil
}

// stop empties the stack in one exchange that succeeds only if all cells are on it, and ends the life. It restores the
// stack if a Block is retained. out is how many cells are taken; then it has changed nothing.
func (g *Grid) stop() (first bool, out int, err error) {
	for !g.life.closed() {
		h := g.head.Load()
		n, ok := g.freeAt(h)
		if !ok {
			continue
		}
		if out := len(g.slots) - n; out > 0 {
			return false, out, nil
		}
		stopped := (h | g.index) + 1 | g.index
		if !g.head.CompareAndSwap(h, stopped) {
			continue
		}
		first, err := g.life.end()
		if err != nil {
			// No cell is taken, so only this goroutine changes the head.
			g.head.Store((stopped | g.index) + 1 | h&g.index)
		}
		return first, 0, err
	}
	return false, 0, nil
}

// endStale ends the life and makes taken cells stale.
func (g *Grid) endStale() (bool, error) {
	first, err := endLife(g.life, g.bytes())
	if first {
		g.stopTakes()
		g.stopGives()
	}
	return first, err
}

// bytes is the size of all cells.
func (g *Grid) bytes() int { return g.cellSize * len(g.slots) }

// stopTakes empties the stack permanently: after the life has ended, nothing is pushed.
func (g *Grid) stopTakes() {
	for {
		h := g.head.Load()
		if g.head.CompareAndSwap(h, (h|g.index)+1|g.index) {
			return
		}
	}
}

// stopGives changes the era of every cell, so that taken cells become stale.
func (g *Grid) stopGives() {
	for i := range g.slots {
		g.slots[i].era.Add(1)
	}
}

func (g *Grid) tearDown() error { return tearDownAll(g.blocks) }

// Cell is a piece of a Grid. It is a value that may be copied: all copies are the same cell, and Give accepts only one
// of them. A zero Cell, a given one, and one of a closed Grid has no Bytes and no Block.
type Cell struct {
	grid  *Grid
	word  uint64 // word and era of the slot when taken; while the slot has them, the cell is taken
	index uint32
	era   uint32
}

// taken reports whether this holder has not given the cell.
func (c Cell) taken() bool { return c.grid != nil && c.grid.slots[c.index].holds(c) }

// Bytes returns the cell's memory: the cell size in bytes, with cap equal to len.
func (c Cell) Bytes() []byte {
	b := c.Block()
	if b == nil {
		return nil
	}
	at, size := c.Offset(), c.grid.cellSize
	return b.mem[at : at+size : at+size]
}

// Index is the cell's number in its Grid, from 0.
func (c Cell) Index() int { return int(c.index) }

// Block returns the Block of the cell. The Grid owns it: only the Grid can close it.
func (c Cell) Block() *Block {
	switch {
	case !c.taken():
		return nil
	case len(c.grid.blocks) == 1:
		return c.grid.blocks[0]
	}
	return c.grid.blocks[c.index]
}

// Offset is the offset of the cell in its Block, in bytes.
func (c Cell) Offset() int {
	if c.grid == nil || c.grid.perCell() {
		return 0
	}
	return int(c.index) * c.grid.cellSize
}

// perCell reports whether each cell has its own Block. A single cell always has.
func (g *Grid) perCell() bool { return len(g.blocks) == len(g.slots) }
