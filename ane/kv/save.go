package kv

import (
	"encoding/binary"
	"io"
	"os"

	"github.com/zeebo/xxh3"
)

// stageBytes is the size of the buffer between memory and file: it fits into the processor's second cache, so that a
// byte is read from memory once for its checksum and its copy.
const stageBytes = 256 << 10

// Save writes a snapshot of the tokens of the cache, without those appended without Advance. Equal caches with equal
// fingerprints give equal bytes. Save writes about 256 KiB at a time and needs no more memory than that.
//
// Errors: ErrClosed, ane.ErrStale, ErrSize (a Fingerprint that a header cannot hold), os.ErrInvalid for a nil Writer,
// and those of w.
func (c *Cache) Save(w io.Writer, f Fingerprint) error {
	if err := c.usable("save"); err != nil {
		return err
	}
	if w == nil {
		return &Error{Op: "save", Cause: os.ErrInvalid, Detail: "nil Writer", Hint: "give one"}
	}
	if err := f.check("save"); err != nil {
		return err
	}
	if err := c.writeSnapshot(w, c.header(f, min(c.first, c.next))); err != nil {
		return &Error{Op: "save", Cause: err}
	}
	return nil
}

// writeSnapshot writes the snapshot that h describes.
func (c *Cache) writeSnapshot(w io.Writer, h *header) error {
	head := h.encode()
	out := &packer{w: w, stage: c.buffer(0)}
	if err := out.put(head); err != nil {
		return err
	}
	sums := make([]byte, 0, h.trailer())
	for i, span := range c.memory.spans {
		for head := range c.config.Heads {
			sum, err := c.pack(out, span, head, h.first, h.end())
			if err != nil {
				return err
			}
			sums = binary.LittleEndian.AppendUint64(sums, sum)
		}
		c.drop(i)
	}
	sums = binary.LittleEndian.AppendUint64(sums, seal(head, sums))
	if err := out.put(sums); err != nil {
		return err
	}
	return out.flush()
}

// seal is the checksum of a header and of the checksums of its heads.
func seal(head, sums []byte) uint64 {
	return xxh3.HashSeed(sums, xxh3.Hash(head))
}

// buffer returns one of two stages, which are made once.
func (c *Cache) buffer(i int) []byte {
	if c.stages[i] == nil {
		c.stages[i] = make([]byte, stageBytes)
	}
	return c.stages[i]
}

// eachRun calls f for the slots of positions [from, to) of every head.
func (c *Cache) eachRun(from, to int, f func(at, n int) error) error {
	for h := range c.config.Heads {
		if err := c.runs(h, from, to, f); err != nil {
			return err
		}
	}
	return nil
}

// runs calls f for the slots of positions [from, to) of a head: with the offset of a run of tokens in a surface and
// their number. There are two runs at most.
func (c *Cache) runs(head, from, to int, f func(at, n int) error) error {
	l := &c.memory.layout
	for p := from; p < to; {
		slot := c.Slot(p)
		n := min(to-p, c.memory.tokens-slot)
		if err := f(head*l.PlaneStride+slot*l.RowStride, n); err != nil {
			return err
		}
		p += n
	}
	return nil
}

// pack writes the tokens [from, to) of a head and returns their checksum.
func (c *Cache) pack(out *packer, span []byte, head, from, to int) (uint64, error) {
	l := &c.memory.layout
	slot := c.Slot(from)
	if l.RowStride == c.row && slot+to-from <= c.memory.tokens {
		run := span[head*l.PlaneStride+slot*l.RowStride:][:(to-from)*c.row] // a Hasher would copy it
		if len(run) <= maxPart {
			sum := xxh3.Hash(run)
			return sum, out.put(run)
		}
	}
	out.sum.Reset()
	err := c.runs(head, from, to, func(at, n int) error {
		if l.RowStride == c.row {
			return out.add(span[at:][:n*c.row])
		}
		for i := range n {
			if err := out.add(span[at+i*l.RowStride:][:c.row]); err != nil {
				return err
			}
		}
		return nil
	})
	return out.sum.Sum64(), err
}

// packer writes bytes through the stage.
type packer struct {
	w     io.Writer
	stage []byte
	n     int // bytes in stage
	sum   xxh3.Hasher
}

// add adds b to the checksum and writes it.
func (p *packer) add(b []byte) error {
	for len(b) > 0 {
		part := b[:min(len(b), len(p.stage))]
		_, _ = p.sum.Write(part) // a Hasher does not fail
		if err := p.put(part); err != nil {
			return err
		}
		b = b[len(part):]
	}
	return nil
}

// put writes b: short pieces through the stage, long ones directly.
func (p *packer) put(b []byte) error {
	for len(b) > 0 {
		if p.n == 0 && len(b) >= len(p.stage) {
			part := b[:len(p.stage)]
			if _, err := p.w.Write(part); err != nil {
				return err
			}
			b = b[len(part):]
			continue
		}
		n := copy(p.stage[p.n:], b)
		p.n += n
		b = b[n:]
		if p.n == len(p.stage) {
			if err := p.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush writes the stage.
func (p *packer) flush() error {
	n := p.n
	p.n = 0
	if n == 0 {
		return nil
	}
	_, err := p.w.Write(p.stage[:n])
	return err
}
