package kv

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/anekit/anekit/internal/errtext"
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
	const op = "restore"
	if err := c.usable(op); err != nil {
		return err
	}
	if r == nil {
		return &Error{Base: errtext.Base{Op: op, Cause: os.ErrInvalid, Detail: "nil Reader", Hint: "give one"}}
	}
	s, err := newSource(op, "", r)
	if err != nil {
		return err
	}
	return c.restore(op, s, f, nil)
}

// source is a snapshot that is being read.
type source struct {
	r    io.Reader // after the header
	at   vectored  // the same file, which two goroutines may read at once; nil for a stream
	name string
	head *header
	raw  []byte // the text of head
}

// newSource reads the header of a snapshot.
func newSource(op, name string, r io.Reader) (*source, error) {
	head, raw, err := readHeader(op, name, r)
	return &source{r: r, name: name, head: head, raw: raw}, err
}

// restore reads a snapshot. accept, unless it is nil, judges the note.
func (c *Cache) restore(op string, s *source, f Fingerprint, accept func([]byte, int) error) error {
	h := s.head
	if err := c.compare(op, s.name, h, f); err != nil {
		return err
	}
	if accept != nil {
		if err := accept(h.note, h.tokens); err != nil {
			return &Error{Base: errtext.Base{Op: op, Cause: err}, Name: s.name}
		}
	}
	into, err := c.place(op, h)
	if err != nil {
		return err
	}
	if err := c.read(op, s, into); err != nil {
		if into == c.memory { // the cache has no tokens, and every byte of a new one is zero
			c.wipe(h)
			return err
		}
		if e := into.retire(); e != nil {
			return &Error{Base: errtext.Base{Op: op, Err: err, Cause: e}}
		}
		return err
	}
	switch {
	case into.tensors == nil:
		err = c.take(op, h, into)
	case into != c.memory:
		err = c.adopt(op, into)
	}
	if err != nil {
		return err
	}
	clear(c.pending)
	c.first, c.next = h.first, h.end()
	c.memory.touched = max(c.memory.touched, c.next)
	c.dropAll()
	return nil
}

// maxSpare is the most heap memory that a cache keeps for the next Restore.
const maxSpare = 4 << 20

// place returns the memory that a snapshot is read into: new surfaces if its tokens do not fit, those of a cache
// without tokens, otherwise the heap.
func (c *Cache) place(op string, h *header) (*memory, error) {
	switch {
	case !c.slides && h.end() > c.memory.tokens:
		if !c.config.Grow {
			return nil, newError(op, ErrFull, fmt.Sprintf("%d tokens, room for %d", h.end(), c.memory.tokens),
				"reserve a longer Context, or set Grow")
		}
		m, err := newMemory(c.config, inSteps(h.end()), c.opts)
		if err != nil {
			return nil, &Error{Base: errtext.Base{Op: op, Cause: err}}
		}
		return m, nil
	case c.shares == nil && c.first >= c.next && slices.Max(c.pending) == 0:
		return c.memory, nil
	}
	b := c.spare
	if len(b) < h.data() {
		b = make([]byte, h.data())
	}
	if len(b) <= maxSpare {
		c.spare = b
	}
	m := &memory{tokens: max(1, h.tokens), first: h.first, layout: c.memory.layout, spans: make([][]byte, 2*h.layers)}
	m.layout.RowStride, m.layout.PlaneStride = c.row, h.plane()
	for i := range m.spans {
		m.spans[i] = b[i*h.tensor():][:h.tensor()]
	}
	return m, nil
}

// read reads the heads of a snapshot and their checksums, and compares them.
func (c *Cache) read(op string, s *source, into *memory) error {
	h := s.head
	all := 2 * h.layers
	sums := make([]byte, 8*all*h.heads, h.trailer())
	absent := c.absent(into, h.end())
	two, each := s.at != nil && inTwo(h.data()), h.group(batchBytes)
	if two {
		each = h.group(min(batchBytes, h.data()/8))
	}
	failed := make([]error, all)
	inTurn((all+each-1)/each, two, func(goroutine, i int) bool {
		from := i * each
		b := &batch{buffers: &c.buffers[goroutine], m: into, h: h, sums: sums}
		var read func(parts [][]byte) error
		read, b.least = s.reader(from * h.tensor())
		failed[from] = c.walk(b, from, min(from+each, all), absent, func(parts [][]byte) error {
			if err := read(parts); err != nil {
				return readError(op, s.name, tensorName(b.pieces[0].tensor)+" or after it", err)
			}
			return nil
		})
		return failed[from] == nil
	})
	for _, err := range failed {
		if err != nil {
			return err
		}
	}
	read, _ := s.reader(h.data())
	return s.verify(op, sums, read)
}

// reader returns what reads parts of the snapshot from an offset of its data on, and the least bytes of a part that is
// not copied together with others. A stream is there already.
func (s *source) reader(offset int) (read func(parts [][]byte) error, least int) {
	if s.at == nil {
		return func(parts [][]byte) error {
			for _, b := range parts {
				if _, err := io.ReadFull(s.r, b); err != nil {
					return err
				}
			}
			return nil
		}, directBytes
	}
	at := int64(len(s.raw) + offset)
	return func(parts [][]byte) error {
		from := at
		for _, b := range parts {
			at += int64(len(b))
		}
		return s.at.readv(parts, from)
	}, vectorBytes
}

// check reads a snapshot for its checksums alone.
func (s *source) check(op string) error {
	h := s.head
	in, sums := bufio.NewReaderSize(s.r, stageBytes), make([]byte, 0, h.trailer())
	var sum xxh3.Hasher
	for i := range 2 * h.layers * h.heads {
		sum.Reset()
		if _, err := io.CopyN(&sum, in, int64(h.plane())); err != nil {
			return readError(op, s.name, tensorName(i/h.heads), err)
		}
		sums = binary.LittleEndian.AppendUint64(sums, sum.Sum64())
	}
	return s.verify(op, sums, func(parts [][]byte) error {
		_, err := io.ReadFull(in, parts[0])
		return err
	})
}

// verify compares the checksums of the heads with those that read finds after them.
func (s *source) verify(op string, sums []byte, read func(parts [][]byte) error) error {
	stored := make([]byte, s.head.trailer())
	if err := read([][]byte{stored}); err != nil {
		return readError(op, s.name, sumsName, err)
	}
	sums = seal(s.raw, sums)
	if bytes.Equal(sums, stored) {
		return nil
	}
	for i := range len(sums)/8 - 1 {
		if have, want := sums[8*i:][:8], stored[8*i:][:8]; !bytes.Equal(have, want) {
			return damaged(op, s.name, "checksum of %s, head %d is %x, not %x", tensorName(i/s.head.heads),
				i%s.head.heads, have, want)
		}
	}
	return damaged(op, s.name, "checksum of the checksums differs")
}

// wipe zeroes the slots of a snapshot that was not restored.
func (c *Cache) wipe(h *header) {
	for i, span := range c.memory.spans {
		for head := range h.heads {
			c.memory.each(span, head, h.first, h.end(), func(b []byte) { clear(b) })
		}
		c.drop(i)
	}
}

// take copies the tokens of a snapshot from the heap to the cache's surfaces, new ones if it shares them.
func (c *Cache) take(op string, h *header, from *memory) error {
	if c.shared(0) {
		m, err := newMemory(c.config, c.memory.tokens, c.opts)
		if err != nil {
			return &Error{Base: errtext.Base{Op: op, Cause: err}}
		}
		if err := c.adopt(op, m); err != nil {
			return err
		}
	}
	inTurn(len(from.spans), inTwo(h.data()), func(_, i int) bool {
		packed, s := from.spans[i], c.surface(c.memory, i, false)
		defer s.close()
		for head := range h.heads {
			c.memory.each(s.span, head, h.first, h.end(), func(b []byte) { packed = packed[copy(b, packed):] })
		}
		return true
	})
	return nil
}
