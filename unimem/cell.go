package unimem

// Cell is a piece of a Grid, a value that may be copied: all copies are the same cell, and
// the first Give among them counts. A zero Cell, one that was given, and one whose Grid is
// closed has no Bytes and no Block.
type Cell struct {
	grid  *Grid
	word  uint64 // slot word when taken: the proof of being out
	index int
}

// out reports whether the cell is still this holder's.
func (c Cell) out() bool { return c.grid != nil && c.grid.slots[c.index].Load() == c.word }

// Bytes is the cell's memory, as long as the cell size and with cap equal to len.
func (c Cell) Bytes() []byte {
	b := c.Block()
	if b == nil {
		return nil
	}
	at, size := c.Offset(), c.grid.cellSize
	return b.mem[at : at+size : at+size]
}

// Index is the cell's number in its Grid, from 0.
func (c Cell) Index() int { return c.index }

// Block is the memory the cell lies in. The Grid owns it: only the Grid can close it.
func (c Cell) Block() *Block {
	switch {
	case !c.out():
		return nil
	case len(c.grid.blocks) == 1:
		return c.grid.blocks[0]
	}
	return c.grid.blocks[c.index]
}

// Offset is where the cell begins in its Block, in bytes.
func (c Cell) Offset() int {
	if c.grid == nil || c.grid.perCell() {
		return 0
	}
	return c.index * c.grid.cellSize
}

// perCell reports whether each cell has a Block of its own. With a single cell both ways
// are the same.
func (g *Grid) perCell() bool { return len(g.blocks) == len(g.slots) }
