package unimem

// Cell is a piece of a Grid. It is a value that may be copied: all copies are the same cell,
// and Give accepts only one of them. A zero Cell, a given one, and one of a closed Grid has
// no Bytes and no Block.
type Cell struct {
	grid  *Grid
	word  uint64 // word and era of the slot when taken; while the slot has them, the cell is taken
	index uint32
	era   uint32
}

// out reports whether the cell is still taken by this holder.
func (c Cell) out() bool { return c.grid != nil && c.grid.slots[c.index].holds(c) }

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
	case !c.out():
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

// perCell reports whether each cell has its own Block. For a single cell both ways are the
// same.
func (g *Grid) perCell() bool { return len(g.blocks) == len(g.slots) }
