package kv

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"sync"
)

// Restore replaces the tokens of the cache by those of a snapshot, which it reads to its end and no further. Tokens
// appended without Advance are dropped, and tensors stay valid unless the cache has to grow or shares pages.
//
// A snapshot is read wholly before the cache changes: after an error the cache is what it was. A cache without
// tokens, such as a new or a cleared one, is read into directly, and after an error the bytes read are zeroed.
// Otherwise Restore keeps the tensors on the heap until all are checked, which costs a copy.
//
// Errors: ErrCorrupt, ErrVersion, ErrFingerprint, ErrFull (more tokens than fit, without Grow), ErrClosed,
// ane.ErrStale, os.ErrInvalid for a nil Reader, and those of r and of unimem.Start.
func (c *Cache) Restore(r io.Reader, f Fingerprint) error {
	return c.restore("restore", []source{{r: r}}, f, -1, nil)
}

// RestorePrefix is Restore of the oldest n tokens of a snapshot, which is checked wholly. The error is ErrSize if it
// has fewer.
func (c *Cache) RestorePrefix(r io.Reader, f Fingerprint, n int) error {
	if n < 0 {
		return &Error{Op: "restore", Err: ErrSize, Detail: fmt.Sprintf("a prefix of %d tokens", n)}
	}
	return c.restore("restore", []source{{r: r}}, f, n, nil)
}

// source is one file of a snapshot, oldest first.
type source struct {
	r    io.Reader
	name string
	head *header // nil if it is still to be read
	raw  []byte
}

// restore reads the snapshot that the sources make together. prefix is the number of tokens to keep, or -1 for all;
// accept, unless it is nil, judges the note.
func (c *Cache) restore(op string, from []source, f Fingerprint, prefix int, accept func([]byte, int) error) error {
	if err := c.usable(op); err != nil {
		return err
	}
	total := 0
	for i := range from {
		s := &from[i]
		if s.head == nil {
			if s.r == nil {
				return &Error{Op: op, Cause: os.ErrInvalid, Detail: "nil Reader", Hint: "give one"}
			}
			var err error
			if s.head, s.raw, err = readHeader(op, s.name, s.r); err != nil {
				return err
			}
		}
		if err := c.compare(op, s.name, s.head, f); err != nil {
			return err
		}
		if i == 0 && s.head.follows != "" {
			return &Error{Op: op, Name: s.name, Err: ErrOrder,
				Detail: "the file has only the tokens behind another file's",
				Hint:   "restore the file whose index names this one"}
		}
		if i > 0 && s.head.first != from[i-1].head.end() {
			return damaged(op, s.name, "begins at position %d, the part before it ends at %d", s.head.first,
				from[i-1].head.end())
		}
		total += s.head.tokens
	}
	if prefix > total {
		return &Error{Op: op, Err: ErrSize, Detail: fmt.Sprintf("a prefix of %d tokens, the snapshot has %d", prefix,
			total)}
	}
	if accept != nil {
		if err := accept(from[0].head.note, total); err != nil {
			return &Error{Op: op, Name: from[0].name, Cause: err}
		}
	}
	lo := from[0].head.first
	hi := lo + total
	if prefix >= 0 {
		hi = lo + prefix
	}
	if c.slides {
		lo = max(lo, hi-c.memory.tokens)
	}
	p, err := c.place(op, lo, hi)
	if err != nil {
		return err
	}
	for i := range from {
		if err := p.read(&from[i]); err != nil {
			return p.undo(err)
		}
	}
	if err := p.commit(); err != nil {
		return err
	}
	clear(c.pending)
	c.first, c.next, c.saved = lo, hi, tip{}
	c.touched = max(c.touched, min(hi, c.memory.tokens))
	return nil
}

// placing is a Restore under way.
type placing struct {
	c      *Cache
	op     string
	lo, hi int      // the positions to keep
	fresh  *memory  // new memory that replaces the cache's, or nil
	staged [][]byte // or the tensors on the heap, packed
	target [][]byte // or the surfaces to read into
	into   *memory  // whose surfaces they are
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
		p.staged = make([][]byte, len(c.memory.spans)) // each made when it is read
		if total := (hi - lo) * c.token * len(p.staged); total <= maxSpare && len(c.spare) < total {
			c.spare = make([]byte, total)
		}
	}
	if p.into != nil {
		p.target = p.into.spans
	}
	return p, nil
}

// minShared is the number of bytes from which on two goroutines read a file.
const minShared = 8 << 20

// read reads the data of a source behind its header and checks it.
func (p *placing) read(s *source) error {
	h := s.head
	count := 2 * h.layers
	stored := make([]byte, h.trailer())
	var sums []byte
	var err error
	if f, ok := s.r.(sections); ok {
		at := func(i int) io.Reader { return f.section(int64(len(s.raw) + i*h.tensor())) }
		half := count / 2
		if h.data() < minShared || runtime.GOMAXPROCS(0) == 1 {
			half = count
		}
		var second []byte
		var other error
		var done sync.WaitGroup
		if half < count {
			done.Go(func() {
				second, other = p.tensors(newUnpacker(at(half), p.c.buffer(1), (count-half)*h.tensor()), s, half, count)
			})
		}
		sums, err = p.tensors(newUnpacker(at(0), p.c.buffer(0), half*h.tensor()), s, 0, half)
		done.Wait()
		sums = append(sums, second...)
		if err == nil {
			err = other
		}
		if err == nil {
			_, err = io.ReadFull(at(count), stored)
		}
	} else {
		in := newUnpacker(s.r, p.c.buffer(0), h.total())
		if sums, err = p.tensors(in, s, 0, count); err == nil {
			err = in.full(stored)
		}
	}
	var known *Error
	if errors.As(err, &known) {
		return err
	}
	if err != nil {
		return readError(p.op, s.name, h.sums(), err)
	}
	sums = binary.LittleEndian.AppendUint64(sums, seal(s.raw, sums))
	if bytes.Equal(sums, stored) {
		return nil
	}
	for i := range 2 * h.layers * h.heads {
		if !bytes.Equal(sums[8*i:][:8], stored[8*i:][:8]) {
			return damaged(p.op, s.name, "checksum of %s, head %d is %x, not %x", h.tensorName(i/h.heads), i%h.heads,
				sums[8*i:][:8], stored[8*i:][:8])
		}
	}
	return damaged(p.op, s.name, "checksum of the checksums differs")
}

// tensors reads tensors [from, to) of a source and returns the checksums of their heads.
func (p *placing) tensors(in *unpacker, s *source, from, to int) ([]byte, error) {
	h := s.head
	in.sums = make([]byte, 0, 8*(to-from)*h.heads+8)
	for i := from; i < to; i++ {
		if err := p.tensor(in, h, i); err != nil {
			return nil, readError(p.op, s.name, h.tensorName(i), err)
		}
	}
	if err := in.flush(); err != nil {
		return nil, readError(p.op, s.name, h.tensorName(to-1), err)
	}
	return in.sums, nil
}

// tensor reads tensor i of a source.
func (p *placing) tensor(in *unpacker, h *header, i int) error {
	c := p.c
	row := c.row
	keep := max(0, min(p.hi, h.end())-max(p.lo, h.first)) // tokens of this source
	before := min(h.tokens, max(0, p.lo-h.first))
	behind := h.tokens - keep - before
	if keep == 0 {
		before, behind = h.tokens, 0
	}
	for head := range h.heads {
		if err := in.skip(before * row); err != nil {
			return err
		}
		if err := p.rows(in, i, head, max(p.lo, h.first), keep); err != nil {
			return err
		}
		if err := in.skip(behind * row); err != nil {
			return err
		}
		in.endHead()
	}
	return nil
}

// rows reads n tokens of a head from position at on.
func (p *placing) rows(in *unpacker, i, head, at, n int) error {
	c := p.c
	if n == 0 {
		return nil
	}
	if p.staged != nil {
		size := (p.hi - p.lo) * c.row
		if p.staged[i] == nil {
			p.staged[i] = p.heap(i, c.config.Heads*size)
		}
		return in.full(p.staged[i][head*size+(at-p.lo)*c.row:][:n*c.row])
	}
	l := &p.into.layout
	for end := at + n; at < end; {
		slot := at
		if c.slides {
			slot %= p.into.tokens
		}
		count := min(end-at, p.into.tokens-slot)
		dst := p.target[i][head*l.PlaneStride+slot*l.RowStride:]
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

// maxSpare is the most memory that a cache keeps for the next Restore.
const maxSpare = 4 << 20

// heap returns the memory of a staged tensor.
func (p *placing) heap(i, size int) []byte {
	if len(p.staged)*size <= maxSpare {
		return p.c.spare[i*size:][:size:size]
	}
	return make([]byte, size)
}

// undo leaves the cache as it was and returns err.
func (p *placing) undo(err error) error {
	switch {
	case p.fresh != nil:
		if e := p.fresh.retire(); e != nil {
			return &Error{Op: p.op, Err: err, Cause: e}
		}
	case p.target != nil: // the cache has no tokens, and every byte of a new one is zero
		for _, span := range p.target {
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
	if p.staged == nil {
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
	for i, packed := range p.staged {
		if packed == nil {
			continue // no tokens
		}
		_ = c.eachRun(p.lo, p.hi, func(at, n int) error { // f does not fail
			dst, stride := c.memory.spans[i][at:], c.memory.layout.RowStride
			if stride == c.row {
				packed = packed[copy(dst[:n*c.row], packed):]
				return nil
			}
			for t := range n {
				packed = packed[copy(dst[t*stride:][:c.row], packed):]
			}
			return nil
		})
	}
	return nil
}
