package unimem

import "runtime"

// Take returns a free cell, the last given one first. Its errors are bare sentinels: ErrGridFull, ErrClosed.
func (g *Grid) Take() (Cell, error) {
	if g == nil {
		return Cell{}, ErrClosed
	}
	for {
		h := g.head.Load()
		if h&g.index >= uint64(len(g.slots)) {
			if err := g.empty(h); err != nil {
				return Cell{}, err
			}
			continue
		}
		if c, ok := g.pop(h); ok {
			return c, nil
		}
	}
}

// pop takes the top cell of h if h is still the head. h has a top cell.
func (g *Grid) pop(h uint64) (Cell, bool) {
	i := h & g.index
	s := &g.slots[i]
	word, era := s.word.Load(), s.era.Load()
	return Cell{g, word, uint32(i), era}, g.head.CompareAndSwap(h, (h|g.index)+1|word&g.index)
}

// empty is the error of a Take that found no cell on h, or nil if it has to look again. While a Close checks the cells,
// the stack is empty although they are free.
func (g *Grid) empty(h uint64) error {
	switch {
	case g.closing.Load():
		runtime.Gosched() // it lasts for some instructions of the closing goroutine
		return nil
	case g.life.closed():
		return ErrClosed
	case g.head.Load() != h:
		return nil
	}
	return ErrGridFull
}

// Give returns a cell to the Grid; Take may return it again at once. Of several Gives of one cell one is accepted;
// another may be refused before that one has returned. Its errors are bare sentinels: ErrForeignCell, ErrStaleCell,
// ErrClosed.
func (g *Grid) Give(c Cell) error {
	if g == nil || c.grid != g || int(c.index) >= len(g.slots) {
		return ErrForeignCell
	}
	s := &g.slots[c.index]
	generation := c.word&^g.link + g.link + 1
	h := g.head.Load()
	// Close ends the life before it empties the stack, so nothing is pushed after that.
	if h&g.index == g.index && g.life.closed() {
		return ErrClosed
	}
	if !s.holds(c) || !s.word.CompareAndSwap(c.word, generation|g.above(h)) {
		return g.refusal(ErrStaleCell)
	}
	if generation == ^g.link {
		generation = s.renew(g.above(h))
	}
	for !g.head.CompareAndSwap(h, h&^g.index|uint64(c.index)) {
		h = g.head.Load()
		if h&g.index == g.index && g.life.closed() {
			return ErrClosed
		}
		s.word.Store(generation | g.above(h))
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

// above returns the link of a cell pushed onto h. It is valid if h is still the head when the push succeeds.
func (g *Grid) above(h uint64) uint64 {
	i := int(h & g.index)
	if i >= len(g.slots) {
		return g.index + 1 | g.index
	}
	depth := g.slots[i].word.Load() & (g.link - g.index)
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
		h := g.head.Load()
		n, ok := g.freeAt(h)
		if ok && (n > 0 || g.empty(h) != nil) {
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
