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

// stopped is the word of the first cell of a Grid that is closed, or was not made by NewGrid.
const stopped = 0

// Grid allocates cells of one size. Take and Give are lock-free and allocate nothing; only a Close without StaleOnClose
// lets Take wait, for a few instructions. Give returns an error for a foreign or stale cell and for one that is given
// twice. All methods are safe for concurrent use.
type Grid struct {
	// The first cell has a word of its own, so that a Take and a Give of it have one exchange each: 2n+1 while the cell
	// is free and has been given n times, 2n+2 while it is taken, and stopped when Close has stopped the Grid.
	//
	// The other free cells form a stack in Go memory. b is the number of bits of a cell index. head is {tag 64-b bits,
	// top b bits}; top is the number of cells when the stack is empty, and all ones when Close has stopped the Grid. Each
	// pop increments the tag, so that the compare-exchange of a concurrent pop or push fails even if the same cell is on
	// top again. A push keeps the tag, because it depends only on the top cell. A tag repeats after at least 2^43 pops,
	// so only a Take that is suspended for at least a day between two instructions can miss a change.
	//
	// words[i] is {depth b bits, generation 64-2b bits, next b bits}: next is the cell below, depth the number of cells
	// from i down. It changes only while cell i is taken. The word behind those of the cells stands for an empty stack;
	// its depth is 0. era counts how often the generation of any cell began again, and ended[i] is what it was after it
	// counted cell i.
	//
	//   - Take reads the word of the top cell and the era, and pops. The Cell has a copy of both.
	//   - Give exchanges the Cell's word for one with the next generation and the new link. If the exchange succeeds,
	//     Give may push; a second Give, or one of an older Cell, finds another word or an ended era and fails. Only the
	//     successful Give writes the word until its push, which publishes the word and the bytes written to the cell.
	//   - The Give that reaches the last generation exchanges the word for one of depth 0, which no Cell has. It counts
	//     the era before it pushes the cell with generation 0.
	//
	// A Give that finds its own word and an era that has not ended is the current one. It is accepted wrongly only if
	// two things happen between this look and its exchange. A Give of a copy succeeds, and exactly 2^(64-2b) more gives
	// of the cell (or a multiple) end with the same link. That is 2^22 gives in the largest Grid, 2^44 below 1023 cells.

	_        [64]byte // first and head have a cache line each, because every Take and Give writes one
	first    atomic.Uint64
	_        [56]byte
	head     atomic.Uint64
	_        [56]byte
	index    uint64          // mask of next and top
	gen      uint64          // mask of the generation
	low      uint64          // mask of generation and next: what is filled with ones carries into the depth
	cells    []atomic.Uint64 // words without the last
	words    []atomic.Uint64
	era      atomic.Uint64
	ended    []atomic.Uint64
	cellSize int
	life     *life
	blocks   []*Block   // one for all cells, or one for each
	stale    bool       // Close does not wait for cells
	closer   sync.Mutex // held by a Close that checks the cells
}

// NewGrid makes a Grid of cells of cellSize bytes each, in one Block, or with SurfacePerCell each at the start of its
// own Block. The caller closes the Grid, which owns its Blocks.
//
// Errors: ErrCellSize, ErrZeroSize (no cells), ErrSize (negative, more than MaxCells, or overflow), and those of Open.
func NewGrid(cellSize, cells int, opts ...Option) (*Grid, error) {
	if err := checkGrid(cellSize, cells); err != nil {
		return nil, err
	}
	b := bits.Len(uint(cells + 1))
	c := configure(opts)
	words := make([]atomic.Uint64, cells+1)
	g := &Grid{words: words, cells: words[:cells], ended: make([]atomic.Uint64, cells), index: 1<<b - 1,
		gen: 1<<(64-b) - 1<<b, low: 1<<(64-b) - 1, cellSize: cellSize, life: new(life), stale: c.Stale}
	if err := g.open(c); err != nil {
		return nil, err
	}
	// Cell 1 on top, the last cell at the bottom.
	for i := 1; i < cells; i++ {
		g.words[i].Store(uint64(cells-i)<<(64-b) | uint64(i+1))
	}
	g.head.Store(1)
	g.first.Store(1)
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
		size, count = g.cellSize, g.Total()
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
	return len(g.cells)
}

// CellSize is the size of a cell in bytes; it does not change.
func (g *Grid) CellSize() int {
	if g == nil {
		return 0
	}
	return g.cellSize
}

// Close frees the memory, once; repeating it returns nil. With StaleOnClose, taken cells become stale, and each Take
// and Give that runs at the same time succeeds or returns ErrClosed.
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

// endIdle ends the life if all cells are free. A Take that meets it waits without giving its thread away, so errors are
// made only afterwards.
func (g *Grid) endIdle() (bool, error) {
	g.closer.Lock()
	defer g.closer.Unlock()
	first, out, err := g.stop()
	switch {
	case out > 0:
		return false, because("close", g.bytes(), ErrInUse, fmt.Errorf("%d of %d cells are taken", out, g.Total()),
			"give them first, or make the Grid with StaleOnClose")
	case err != nil:
		return false, inUse(g.bytes(), err)
	}
	return first, nil
}

// stop stops the Grid if all cells are free, and ends the life. out is how many cells are taken; then it has changed
// nothing.
func (g *Grid) stop() (first bool, out int, err error) {
	for !g.life.closed() {
		h := g.head.Load()
		n, ok := g.freeAt(h)
		if !ok {
			continue
		}
		if out := g.Total() - n; out > 0 {
			return false, out, nil
		}
		if g.head.CompareAndSwap(h, g.noCell(h)) {
			if first, done, err := g.stopFirst(h); done {
				return first, 0, err
			}
		}
	}
	return false, 0, nil
}

// stopFirst is stop after it has stopped the stack whose head was h, with all cells but the first in it: only this
// goroutine changes the head. It restores the head if the first cell is taken, and reports that nothing is stopped. If
// a Block is retained it restores both words.
func (g *Grid) stopFirst(h uint64) (first, done bool, err error) {
	restored, v := g.noCell(h)+1|h&g.index, g.first.Load()
	if v&1 == 0 || !g.first.CompareAndSwap(v, stopped) {
		g.head.Store(restored)
		return false, false, nil
	}
	if first, err = g.life.end(); err != nil {
		g.head.Store(restored)
		g.first.Store(v)
	}
	return first, true, err
}

// noCell is the head of a stopped Grid after h.
func (g *Grid) noCell(h uint64) uint64 { return (h | g.index) + 1 | g.index }

// endStale ends the life and makes taken cells stale, also after another Close that has not come so far.
func (g *Grid) endStale() (bool, error) {
	first, err := endLife(g.life, g.bytes())
	if err == nil {
		g.stopTakes()
		g.stopGives()
	}
	return first, err
}

// bytes is the size of all cells.
func (g *Grid) bytes() int { return g.cellSize * g.Total() }

// stopTakes stops the Grid permanently: after the life has ended, nothing is pushed. The first cell is given no more.
func (g *Grid) stopTakes() {
	g.first.Store(stopped)
	for {
		h := g.head.Load()
		if g.head.CompareAndSwap(h, g.noCell(h)) {
			return
		}
	}
}

// stopGives ends the era, so that Give and Bytes find the Grid closed.
func (g *Grid) stopGives() { g.era.Add(1) }

func (g *Grid) tearDown() error { return tearDownAll(g.blocks) }

// Cell is a piece of a Grid. It is a value that may be copied: all copies are the same cell, and Give accepts only one
// of them. A zero Cell, a given one, and one of a closed Grid has no Bytes and no Block.
type Cell struct {
	grid  *Grid
	word  uint64 // of the cell when taken, and the era unless it is the first; while they hold, the cell is taken
	era   uint64
	index uint64
}

// taken reports whether this holder has not given the cell.
func (c Cell) taken() bool { return c.grid != nil && c.grid.holds(c) }

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
func (g *Grid) perCell() bool { return len(g.blocks) == g.Total() }
