package kv

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
)

// placing is a Restore under way.
type placing struct {
	c      *Cache
	op     string
	lo, hi int       // the positions to keep
	fresh  *memory   // new memory that replaces the cache's, or nil
	into   *memory   // whose surfaces are read into; nil if the tokens are staged
	staged []staging // what commit copies
	spare  []byte    // memory for it
}

// staging is the tokens of tensors in memory: of each tensor its heads, packed.
type staging struct {
	from, to      int // tensors
	first, tokens int
	b             []byte
}

// place decides where the tokens are read to.
func (c *Cache) place(op string, lo, hi int) (*placing, error) {
	p := &placing{c: c, op: op, lo: lo, hi: hi}
	switch {
	case !c.slides && hi > c.memory.tokens:
		if !c.config.Grow {
			return nil, &Error{Op: op, Err: ErrFull, Detail: fmt.Sprintf("%d tokens, room for %d", hi, c.memory.tokens),
				Hint: "reserve a longer Context, set Grow, or restore a prefix"}
		}
		m, err := newMemory(c.config, c.form, (hi+Step-1)/Step*Step, c.opts)
		if err != nil {
			return nil, &Error{Op: op, Cause: err}
		}
		p.fresh, p.into = m, m
	case c.shares == nil && c.first >= c.next && !slices.ContainsFunc(c.pending, func(n int) bool { return n > 0 }):
		p.into = c.memory
	default:
		if total := (hi - lo) * c.token * len(c.memory.spans); total <= maxSpare {
			if len(c.spare) < total {
				c.spare = make([]byte, total)
			}
			p.spare = c.spare
		}
	}
	return p, nil
}

// read reads the data of a source after its header and checks it.
func (p *placing) read(s *source) error {
	h := s.head
	count := 2 * h.layers * h.heads
	sums, stored := make([]byte, h.trailer()), make([]byte, h.trailer())
	if err := p.readHeads(s, sums); err != nil {
		return err
	}
	_, _, tokens := p.kept(h)
	p.spare = p.spare[min(len(p.spare), count*tokens*p.c.row):]
	tail := s.r
	if s.at != nil {
		tail = io.NewSectionReader(s.at, int64(len(s.raw)+h.data()), int64(len(stored)))
	}
	if _, err := io.ReadFull(tail, stored); err != nil {
		return readError(p.op, s.name, h.sums(), err)
	}
	last := len(sums) - 8
	binary.LittleEndian.PutUint64(sums[last:], seal(s.raw, sums[:last]))
	if bytes.Equal(sums, stored) {
		return nil
	}
	for i := range count {
		if !bytes.Equal(sums[8*i:][:8], stored[8*i:][:8]) {
			return damaged(p.op, s.name, "checksum of %s, head %d is %x, not %x", h.tensorName(i/h.heads), i%h.heads,
				sums[8*i:][:8], stored[8*i:][:8])
		}
	}
	return damaged(p.op, s.name, "checksum of the checksums differs")
}

// kept returns what of a source is kept: the number of tokens before it, its first position, its tokens.
func (p *placing) kept(h *header) (before, first, tokens int) {
	first = max(p.lo, h.first)
	tokens = max(0, min(p.hi, h.end())-first)
	if tokens == 0 {
		return h.tokens, first, 0
	}
	return first - h.first, first, tokens
}

// tensor reads tensor i of a source to its place.
func (p *placing) tensor(in *unpacker, h *header, i int) error {
	before, first, tokens := p.kept(h)
	for head := range h.heads {
		err := in.begin(before * p.c.row)
		if err == nil {
			err = p.rows(in, i, head, first, tokens)
		}
		if err == nil {
			err = in.end((h.tokens - before - tokens) * p.c.row)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// rows takes n tokens of a head from position at on to their slots.
func (p *placing) rows(in *unpacker, i, head, at, n int) error {
	c, l := p.c, &p.into.layout
	for end := at + n; at < end; {
		slot := at
		if c.slides {
			slot %= p.into.tokens
		}
		count := min(end-at, p.into.tokens-slot)
		dst := p.into.spans[i][head*l.PlaneStride+slot*l.RowStride:]
		if l.RowStride == c.row {
			if err := in.full(dst[:count*c.row]); err != nil {
				return err
			}
		} else {
			for t := range count {
				if err := in.full(dst[t*l.RowStride:][:c.row]); err != nil {
					return err
				}
			}
		}
		at += count
	}
	return nil
}

// stage reads the tensors of g, and keeps their tokens.
func (p *placing) stage(in *unpacker, h *header, g staging) error {
	b := g.b
	if g.tokens == h.tokens && len(b) > 0 { // as the file has them
		if err := in.fetch(b); err != nil {
			return err
		}
		for ; len(b) > 0; b = b[in.head:] {
			in.whole(b[:in.head])
		}
		return nil
	}
	before, _, tokens := p.kept(h)
	n := tokens * p.c.row
	for range (g.to - g.from) * h.heads {
		err := in.begin(before * p.c.row)
		if err == nil {
			err = in.full(b[:n])
		}
		if err == nil {
			err = in.end((h.tokens - before - tokens) * p.c.row)
		}
		if err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// maxSpare is the most memory that a cache keeps for the next Restore.
const maxSpare = 4 << 20

// undo leaves the cache as it was and returns err.
func (p *placing) undo(err error) error {
	switch {
	case p.fresh != nil:
		if e := p.fresh.retire(); e != nil {
			return &Error{Op: p.op, Err: err, Cause: e}
		}
	case p.into != nil: // the cache has no tokens, and every byte of a new one is zero
		for _, span := range p.into.spans {
			_ = p.c.eachRun(p.lo, p.hi, func(at, n int) error { // f does not fail
				clear(span[at:][:n*p.into.layout.RowStride])
				return nil
			})
		}
	}
	return err
}

// commit makes the tokens part of the cache's memory.
func (p *placing) commit() error {
	c := p.c
	if p.fresh != nil {
		return c.adopt(p.op, c.form, p.fresh)
	}
	if p.into != nil {
		return nil
	}
	if c.shared(0) {
		m, err := newMemory(c.config, c.form, c.memory.tokens, c.opts)
		if err != nil {
			return &Error{Op: p.op, Cause: err}
		}
		if err := c.adopt(p.op, c.form, m); err != nil {
			return err
		}
	}
	p.into = c.memory
	size := (p.hi - p.lo) * c.token * len(c.memory.spans)
	inTurn(len(p.staged), size >= minShared, func(_, g int) bool {
		s := &p.staged[g]
		in := unpacker{have: s.b, known: true}
		for i := s.from; i < s.to; i++ {
			for head := range c.config.Heads {
				_ = p.rows(&in, i, head, s.first, s.tokens) // in has as many bytes
			}
		}
		return true
	})
	return nil
}
