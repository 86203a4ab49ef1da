package tokenizer

// bpe is a byte-pair encoding: characters are merged in pairs, the pair with the lowest rank first.
type bpe struct {
	ids          map[string]int32
	merges       map[[2]int32]merge
	bytes        [256]int32 // the token of a byte by byte_fallback, or -1
	fallback     bool
	ignoreMerges bool  // a word that is a token is not split
	unknown      int32 // the token of an unknown character, or -1
	fuse         bool  // unknown characters in a row are one token
}

type merge struct{ rank, id int32 }

// symbol is a token of a word under way, in a list of those before and after it.
type symbol struct {
	id         int32
	prev, next int32 // -1 at the ends
	gone       bool
}

// candidate is a pair that may be merged.
type candidate struct {
	merge
	at int32 // its left symbol
}

// encode appends the tokens of a word to out.
func (m *bpe) encode(out []int, word string) []int {
	if m.ignoreMerges {
		if id, ok := m.ids[word]; ok {
			return append(out, int(id))
		}
	}
	symbols := m.symbols(word)
	m.mergeAll(symbols)
	for i := range symbols {
		if !symbols[i].gone {
			out = append(out, int(symbols[i].id))
		}
	}
	return out
}

// symbols returns the characters of a word as tokens.
func (m *bpe) symbols(word string) []symbol {
	all := make([]symbol, 0, len(word))
	add := func(id int32) {
		if n := len(all); n > 0 {
			all[n-1].next = int32(n)
		}
		all = append(all, symbol{id: id, prev: int32(len(all)) - 1, next: -1})
	}
	unknown := false // the last symbol is an unknown character
	for i := 0; i < len(word); {
		n := 1
		for i+n < len(word) && word[i+n]&0xC0 == 0x80 {
			n++
		}
		char := word[i : i+n]
		i += n
		id, ok := m.ids[char]
		switch {
		case ok:
			add(id)
		case m.fallback && m.hasBytes(char):
			for _, b := range []byte(char) {
				add(m.bytes[b])
			}
		case m.unknown < 0: // as in the library of the format: the text goes on without the character
			continue
		case !unknown || !m.fuse:
			add(m.unknown)
			unknown = true
			continue
		default:
			continue
		}
		unknown = false
	}
	return all
}

// hasBytes reports whether every byte of a character has a token.
func (m *bpe) hasBytes(char string) bool {
	for _, b := range []byte(char) {
		if m.bytes[b] < 0 {
			return false
		}
	}
	return true
}

// mergeAll merges symbols until no pair of neighbors has a merge. It takes n log n steps.
func (m *bpe) mergeAll(all []symbol) {
	var queue candidates
	offer := func(left int32) {
		if left < 0 || all[left].next < 0 {
			return
		}
		if g, ok := m.merges[[2]int32{all[left].id, all[all[left].next].id}]; ok {
			queue.push(candidate{g, left})
		}
	}
	for i := range all {
		offer(int32(i))
	}
	for len(queue) > 0 {
		c := queue.pop()
		left := &all[c.at]
		if left.gone || left.next < 0 {
			continue
		}
		right := &all[left.next]
		if g, ok := m.merges[[2]int32{left.id, right.id}]; !ok || g != c.merge {
			continue // one of the two was merged since
		}
		left.id, right.gone = c.id, true
		left.next = right.next
		if left.next >= 0 {
			all[left.next].prev = c.at
		}
		offer(left.prev)
		offer(c.at)
	}
}

// candidates is a heap: the lowest rank first, of several the leftmost. One of package container/heap would allocate
// every candidate.
type candidates []candidate

func (c candidates) less(i, j int) bool {
	return c[i].rank < c[j].rank || c[i].rank == c[j].rank && c[i].at < c[j].at
}

func (c *candidates) push(x candidate) {
	*c = append(*c, x)
	all := *c
	for i := len(all) - 1; i > 0; {
		up := (i - 1) / 2
		if !all.less(i, up) {
			break
		}
		all[i], all[up] = all[up], all[i]
		i = up
	}
}

func (c *candidates) pop() candidate {
	all := *c
	least, n := all[0], len(all)-1
	all[0] = all[n]
	all = all[:n]
	for i := 0; ; {
		down := 2*i + 1
		if down+1 < n && all.less(down+1, down) {
			down++
		}
		if down >= n || !all.less(down, i) {
			break
		}
		all[i], all[down] = all[down], all[i]
		i = down
	}
	*c = all
	return least
}
