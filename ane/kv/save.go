package kv

import (
	"bufio"
	"encoding/binary"
	"io"
	"os"

	"github.com/zeebo/xxh3"

	"github.com/anekit/anekit/internal/errtext"
)

// stageBytes is the size of a buffer between memory and file. A piece of directBytes or more passes by the buffer: to
// copy it takes longer than a system call.
const stageBytes, directBytes = 256 << 10, 16 << 10

// stage is what one goroutine needs between memory and file.
type stage struct {
	in  *bufio.Reader
	out *bufio.Writer
	sum xxh3.Hasher
}

// reader returns the buffer for r.
func (s *stage) reader(r io.Reader) *bufio.Reader {
	if s.in == nil {
		s.in = bufio.NewReaderSize(nil, stageBytes)
	}
	s.in.Reset(r)
	return s.in
}

// writer returns the buffer for w.
func (s *stage) writer(w io.Writer) *bufio.Writer {
	if s.out == nil {
		s.out = bufio.NewWriterSize(nil, stageBytes)
	}
	s.out.Reset(w)
	return s.out
}

// Save writes a snapshot of the tokens of the cache, without those appended without Advance. Equal caches with equal
// fingerprints give equal bytes. Save writes 512 KiB at most at a time, and needs a buffer of 256 KiB.
//
// Errors: ErrClosed, ane.ErrStale, ErrSize (a Fingerprint that a header cannot hold), os.ErrInvalid for a nil Writer,
// and those of w.
func (c *Cache) Save(w io.Writer, f Fingerprint) error {
	if err := c.usable("save"); err != nil {
		return err
	}
	if w == nil {
		return &Error{Base: errtext.Base{Op: "save", Cause: os.ErrInvalid, Detail: "nil Writer", Hint: "give one"}}
	}
	if err := f.check("save"); err != nil {
		return err
	}
	if err := c.writeSnapshot(w, c.header(f)); err != nil {
		return &Error{Base: errtext.Base{Op: "save", Cause: err}}
	}
	return nil
}

// writeSnapshot writes the snapshot that h describes.
func (c *Cache) writeSnapshot(w io.Writer, h *header) error {
	s := &c.stages[0]
	out, raw := s.writer(w), h.encode()
	write := func(b []byte) error {
		_, err := out.Write(b)
		return err
	}
	if err := write(raw); err != nil {
		return err
	}
	sums := make([]byte, 0, h.trailer())
	each := func(b []byte) ([]byte, error) {
		if len(b) < directBytes {
			return b, write(b)
		}
		if err := out.Flush(); err != nil {
			return b, err
		}
		n, err := w.Write(b)
		if err == nil && n < len(b) {
			err = io.ErrShortWrite
		}
		return b, err
	}
	for i := range c.memory.spans {
		span, again := c.view(c.memory, i)
		for head := range h.heads {
			sum, err := c.memory.sum(&s.sum, span, head, h.first, h.end(), each)
			if err != nil {
				_ = again.Close() // which loses nothing
				return err
			}
			sums = binary.LittleEndian.AppendUint64(sums, sum)
		}
		_ = again.Close()
		c.drop(i)
	}
	if err := write(seal(raw, sums)); err != nil {
		return err
	}
	return out.Flush()
}

// seal returns the checksums of all heads with one more: of the header and of themselves.
func seal(raw, sums []byte) []byte {
	return binary.LittleEndian.AppendUint64(sums, xxh3.HashSeed(sums, xxh3.Hash(raw)))
}
