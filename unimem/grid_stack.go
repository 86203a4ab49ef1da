package unimem

import "math/bits"

// Take returns a free cell: the first one if it is free, otherwise the last given; beside other goroutines it may miss
// what they have just given. Its errors are bare sentinels: ErrGridFull (no cell was free), ErrClosed.
func (g *Grid) Take() (c Cell, err error) {
	inlined(func() {
		if g != nil {
			v, h, index, cells := g.first.Load(), g.head.Load(), g.index, g.cells
			if v&1 > 0 {
				if g.first.CompareAndSwap(v, v+1) {
					c = Cell{grid: g, word: v + 1}
					return
				}
			} else if i := h & index; i < uint64(len(cells)) {
				word, era := cells[i].Load(), g.era.Load()
				if g.head.CompareAndSwap(h, (h|index)+1|word&index) {
					c = Cell{g, word, era, i}
					return
				}
			}
		}
		c, err = g.take()
	})
	return
}

// take is Take for all cases.
func (g *Grid) take() (Cell, error) {
	for g != nil && !g.life.closed() {
		h := g.head.Load()
		if v := g.first.Load(); v&1 > 0 {
			if g.first.CompareAndSwap(v, v+1) {
				return Cell{grid: g, word: v + 1}, nil
			}
			continue
		}
		if c, ok := g.pop(h); ok {
			return c, nil
		}
		if n, ok := g.freeAt(h); ok && n == 0 {
			return Cell{}, ErrGridFull
		}
	}
	return Cell{}, ErrClosed
}

// pop takes the top cell of h, if there is one and h is still the head.
func (g *Grid) pop(h uint64) (Cell, bool) {
	i := h & g.index
	if i >= uint64(len(g.cells)) {
		return Cell{}, false
	}
	word, era := g.cells[i].Load(), g.era.Load()
	return Cell{g, word, era, i}, g.head.CompareAndSwap(h, (h|g.index)+1|word&g.index)
}

// Give returns a cell to the Grid; Take may return it again at once. Of several Gives of one cell one is accepted;
// another may be refused before that one has returned. Its errors are bare sentinels: ErrForeignCell, ErrStaleCell,
// ErrClosed.
func (g *Grid) Give(c Cell) (err error) {
	inlined(func() {
		if g == nil || c.grid != g {
			err = ErrForeignCell
			return
		}
		h, index, words, claimed := g.head.Load(), g.index, g.words, uint64(0)
		if c.index == 0 {
			if g.first.CompareAndSwap(c.word, c.word+1) {
				return
			}
		} else if top := h & index; top < uint64(len(words)) && c.index < uint64(len(words)) {
			next := ((c.word | index) + 1) & g.gen
			if words[c.index].Load() == c.word && g.era.Load() == c.era && next != 0 {
				next += (words[top].Load() | g.low) + 1 + top
				if words[c.index].CompareAndSwap(c.word, next) {
					if g.head.CompareAndSwap(h, h-top+c.index) {
						return
					}
					claimed = next
				}
			}
		}
		err = g.give(c, claimed)
	})
	return
}

// give is Give for all cases, of a cell of the Grid. claimed is the word that Give has exchanged for that of the cell,
// or 0.
func (g *Grid) give(c Cell, claimed uint64) error {
	if claimed == 0 {
		claimed = ((c.word | g.index) + 1) & g.gen // of depth 0
		if !g.holds(c) || !g.words[c.index].CompareAndSwap(c.word, claimed) {
			if g.life.closed() {
				return ErrClosed
			}
			return ErrStaleCell
		}
		if claimed == 0 {
			g.ended[c.index].Store(g.era.Add(1))
		}
	}
	for {
		h := g.head.Load()
		top := h & g.index
		if top >= uint64(len(g.words)) { // a Close without StaleOnClose stops no Grid of which this cell is taken
			return ErrClosed
		}
		g.words[c.index].Store(claimed&g.gen + (g.words[top].Load() | g.low) + 1 + top)
		if g.head.CompareAndSwap(h, h-top+c.index) {
			return nil
		}
	}
}

// holds reports whether c has not been given. The order matters: the word of c appears again only after its era has
// ended.
func (g *Grid) holds(c Cell) bool {
	if c.index == 0 {
		return g.first.Load() == c.word
	}
	return g.words[c.index].Load() == c.word &&
		(g.era.Load() == c.era || !g.life.closed() && g.ended[c.index].Load() <= c.era)
}

// Free is the number of free cells, 0 after Close.
func (g *Grid) Free() int {
	for g != nil && !g.life.closed() {
		if n, ok := g.freeAt(g.head.Load()); ok {
			return n
		}
	}
	return 0
}

// freeAt returns how many cells are free while h is the head. It is valid if h is still the head after the other words
// were read, because the top cell's word does not change while the cell is on top. A stopped Grid has no free cells.
func (g *Grid) freeAt(h uint64) (int, bool) {
	i := h & g.index
	if i >= uint64(len(g.words)) {
		return 0, false
	}
	word, v := g.words[i].Load(), g.first.Load()
	return int(word>>bits.Len64(g.low) + v&1), v != stopped && g.head.Load() == h
}
