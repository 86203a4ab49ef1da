package kv

import (
	"fmt"
	"io"
	"os"
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
	at   io.ReaderAt // the same file, which two goroutines may read at once; nil for a stream
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
				Detail: "the file has only the tokens after another file's",
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
	c.dropAll()
	return nil
}
