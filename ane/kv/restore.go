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
	"github.com/anekit/anekit/unimem"
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
	r    io.Reader   // after the header
	at   io.ReaderAt // the same file, which two goroutines may read at once; nil for a stream
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
	m := &memory{tokens: h.tokens, first: h.first, layout: c.memory.layout, spans: make([][]byte, 2*h.layers)}
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
	sums, failed := make([]byte, 8*all*h.heads, h.trailer()), make([]error, all)
	absent := c.absent(into, h.end())
	span := func(st *stage, i int, each func([]byte) ([]byte, error)) error {
		b, again := into.spans[i], (*unimem.Mapping)(nil)
		if f := fileOf(into, i, absent); f != nil {
			defer f.Close()
			each = func(b []byte) ([]byte, error) {
				read, err := st.in.Peek(len(b))
				if err == nil {
					_, err = f.WriteAt(read, into.at(i, b))
				}
				_, _ = st.in.Discard(len(read))
				return read, err
			}
		} else {
			b, again = c.view(into, i)
			defer again.Close()
		}
		for head := range h.heads {
			sum, err := into.sum(&st.sum, b, head, h.first, h.end(), each)
			if err != nil {
				return err
			}
			binary.LittleEndian.PutUint64(sums[8*(i*h.heads+head):], sum)
		}
		return nil
	}
	group := func(st *stage, r io.Reader, from, to int) bool {
		fill := func(b []byte) ([]byte, error) {
			_, err := io.ReadFull(r, b)
			return b, err
		}
		switch {
		case into.tensors == nil: // the heap has them as the file has
			if _, err := fill(into.spans[from][:(to-from)*h.tensor()]); err != nil {
				failed[from] = readError(op, s.name, tensorName(from), err)
				return false
			}
			fill = func(b []byte) ([]byte, error) { return b, nil }
		case s.at == nil || h.plane() < directBytes || absent:
			r = st.reader(r)
		}
		for i := from; i < to; i++ {
			if err := span(st, i, fill); err != nil {
				failed[i] = readError(op, s.name, tensorName(i), err)
				return false
			}
		}
		return true
	}
	var tail io.Reader
	if s.at == nil {
		tail = io.LimitReader(s.r, int64(h.total()))
		group(&c.stages[0], tail, 0, all)
		if into.tensors != nil {
			tail = c.stages[0].in
		}
	} else {
		section := func(from, to int) io.Reader {
			return io.NewSectionReader(s.at, int64(len(s.raw)+from), int64(to-from))
		}
		each := max(1, stageBytes/max(1, h.tensor())) // tensors of a group
		inTurn((all+each-1)/each, h.data() >= minShared, func(goroutine, i int) bool {
			from, to := i*each, min(i*each+each, all)
			return group(&c.stages[goroutine], section(from*h.tensor(), to*h.tensor()), from, to)
		})
		tail = section(h.data(), h.total())
	}
	for _, err := range failed {
		if err != nil {
			return err
		}
	}
	return s.verify(op, sums, tail)
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
	return s.verify(op, sums, in)
}

// verify compares the checksums of the heads with those that tail has.
func (s *source) verify(op string, sums []byte, tail io.Reader) error {
	stored := make([]byte, s.head.trailer())
	if _, err := io.ReadFull(tail, stored); err != nil {
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
	for i := range c.memory.spans {
		for head := range h.heads {
			for p := h.first; p < h.end(); {
				var b []byte
				b, p = c.memory.piece(c.memory.spans[i], head, p, h.end())
				clear(b)
			}
		}
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
	inTurn(len(from.spans), h.data() >= minShared, func(_, i int) bool {
		packed := from.spans[i]
		for head := range h.heads {
			for p := h.first; p < h.end(); {
				var b []byte
				b, p = c.memory.piece(c.memory.spans[i], head, p, h.end())
				packed = packed[copy(b, packed):]
			}
		}
		return true
	})
	return nil
}
