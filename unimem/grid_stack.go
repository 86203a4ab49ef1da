package unimem

// Take and give call nothing and spill nothing: an exchange waits for the stores before it, those of a frame too.

// Take returns a free cell, the last given one first. Its errors are bare sentinels: ErrGridFull, ErrClosed.
func (g *Grid) Take() (Cell, error) {
	if g == nil {
		return Cell{}, ErrClosed
	}
	for slots := g.slots; ; {
		h, index := g.head.Load(), g.index
		if i := h & index; i < uint64(len(slots)) {
			if c, ok := g.pop(&slots[i], h, index); ok {
				return c, nil
			}
			continue
		}
		switch {
		case g.closing.Load(): // a Close that checks the cells empties the stack, for some instructions
		case g.life.closed():
			return Cell{}, ErrClosed
		case g.head.Load() == h:
			return Cell{}, ErrGridFull
		}
	}
}

// pop takes the top cell of h if h is still the head. s is its slot.
func (g *Grid) pop(s *slot, h, index uint64) (Cell, bool) {
	word, era := s.word.Load(), s.era.Load()
	return Cell{g, word, uint32(h & index), era}, g.head.CompareAndSwap(h, (h|index)+1|word&index)
}

// Give returns a cell to the Grid; Take may return it again at once. Of several Gives of one cell one is accepted;
// another may be refused before that one has returned. Its errors are bare sentinels: ErrForeignCell, ErrStaleCell,
// ErrClosed.
func (g *Grid) Give(c Cell) error { return g.give(c.grid, c.word, c.index, c.era) }

// give is Give with the parts of the Cell.
func (g *Grid) give(grid *Grid, word uint64, i, era uint32) error {
	if g == nil || grid != g {
		return ErrForeignCell
	}
	slots, index, link := g.slots, g.index, g.link
	if int(i) >= len(slots) {
		return ErrForeignCell
	}
	s := &slots[i]
	h := g.head.Load()
	// The parts of a word have bits of their own: the next generation, one more than the depth of the top, the top.
	next := (word | link) + 1
	if top := h & index; top < uint64(len(slots)) {
		next += (slots[top].word.Load()|index)&link + 1 + top
	} else if g.life.closed() { // Close ends the life before it empties the stack, so nothing is pushed after that
		return ErrClosed
	} else {
		next += index + 1 + index
	}
	if s.word.Load() != word || s.era.Load() != era || !s.word.CompareAndSwap(word, next) {
		if g.life.closed() {
			return ErrClosed
		}
		return ErrStaleCell
	}
	if next|link == ^uint64(0) {
		next = s.renew(next & link)
	}
	for !g.head.CompareAndSwap(h, h&^index|uint64(i)) {
		h = g.head.Load()
		below := index + 1 | index
		if top := h & index; top < uint64(len(slots)) {
			below = (slots[top].word.Load()|index)&link + 1 + top
		} else if g.life.closed() {
			return ErrClosed
		}
		s.word.Store(next&^link | below)
	}
	return nil
}

// holds reports whether the slot has word and era of c. The order matters: the word of c appears
// again only after its era has ended.
func (s *slot) holds(c Cell) bool { return s.word.Load() == c.word && s.era.Load() == c.era }

// renew begins again at generation 0, which it returns, in a new era. The caller has claimed the
// slot, whose word has the last generation: it fits no Cell until the new era has begun.
func (s *slot) renew(link uint64) uint64 {
	s.era.Add(1)
	s.word.Store(link)
	return 0
}

// Free is the number of free cells, 0 after Close.
func (g *Grid) Free() int {
	if g == nil {
		return 0
	}
	for {
		h := g.head.Load()
		n, ok := g.freeAt(h)
		if ok && (n > 0 || !g.closing.Load() && g.head.Load() == h) {
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
	word := g.slots[i].word.Load()
	return int(word >> (g.width & 63) & g.index), g.head.Load() == h
}
