package unimem

// Take returns a free cell, the last given one first. Its errors are bare sentinels:
// ErrGridFull, ErrClosed.
func (g *Grid) Take() (Cell, error) {
	if g == nil {
		return Cell{}, ErrClosed
	}
	for {
		h := g.head.Load()
		if int(h&g.index) >= len(g.slots) {
			return Cell{}, g.refusal(ErrGridFull)
		}
		if c, ok := g.pop(h); ok {
			return c, nil
		}
	}
}

// pop takes the top cell of h if h is still the head. h has a top cell.
func (g *Grid) pop(h uint64) (Cell, bool) {
	i := int(h & g.index)
	word := g.slots[i].Load()
	return Cell{g, word, i}, g.head.CompareAndSwap(h, (h|g.index)+1|word&g.index)
}

// Give returns a cell to the Grid; Take may return it again at once. Of several Gives of one
// cell one is accepted; another may be refused before that one has returned. Its errors are
// bare sentinels: ErrForeignCell, ErrStaleCell, ErrClosed.
func (g *Grid) Give(c Cell) error {
	if g == nil || c.grid != g || c.index >= len(g.slots) {
		return ErrForeignCell
	}
	slot := &g.slots[c.index]
	generation := c.word&^g.link + g.link + 1
	h := g.head.Load()
	// Close ends the life before it empties the stack, so nothing is pushed after that.
	if h&g.index == g.index && g.life.closed() {
		return ErrClosed
	}
	if !slot.CompareAndSwap(c.word, generation|g.above(h)) {
		return g.refusal(ErrStaleCell)
	}
	for !g.head.CompareAndSwap(h, h&^g.index|uint64(c.index)) {
		h = g.head.Load()
		if h&g.index == g.index && g.life.closed() {
			return ErrClosed
		}
		slot.Store(generation | g.above(h))
	}
	return nil
}

// above returns the link of a cell pushed onto h. It is valid if h is still the head when
// the push succeeds.
func (g *Grid) above(h uint64) uint64 {
	i := int(h & g.index)
	if i >= len(g.slots) {
		return g.index + 1 | g.index
	}
	depth := g.slots[i].Load() & (g.link - g.index)
	return depth + g.index + 1 | uint64(i)
}

func (g *Grid) refusal(err error) error {
	if g.life.closed() {
		return ErrClosed
	}
	return err
}

// Free is the number of free cells, 0 after Close.
func (g *Grid) Free() int {
	if g == nil {
		return 0
	}
	for {
		if n, ok := g.freeAt(g.head.Load()); ok {
			return n
		}
	}
}

// freeAt returns the depth of h. It is valid if h is still the head afterwards, because the
// top cell's word does not change while the cell is on top.
func (g *Grid) freeAt(h uint64) (int, bool) {
	i := int(h & g.index)
	if i >= len(g.slots) {
		return 0, true
	}
	word := g.slots[i].Load()
	return int(word >> (g.width & 63) & g.index), g.head.Load() == h
}
