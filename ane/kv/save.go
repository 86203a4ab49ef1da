package kv

import (
	"encoding/binary"
	"io"

	"github.com/zeebo/xxh3"
)

// stageBytes is the size of the buffer between memory and file: it fits into the processor's second cache, so that a
// byte is read from memory once for its checksum and its copy.
const stageBytes = 256 << 10

// Save writes a snapshot of the tokens of the cache, without those appended without Advance. Equal caches with equal
// fingerprints give equal bytes. Save writes about 256 KiB at a time and needs no more memory than that.
//
// Errors: ErrClosed, ane.ErrStale, ErrSize (a Fingerprint that a header cannot hold), and those of w.
func (c *Cache) Save(w io.Writer, f Fingerprint) error {
	if err := c.usable("save"); err != nil {
		return err
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
	out := &packer{w: w, stage: c.buffer()}
	if err := out.put(head); err != nil {
		return err
	}
	sums := make([]byte, 0, h.trailer())
	for _, span := range c.memory.spans {
		out.sum.Reset()
		if err := c.eachRun(h.first, h.end(), func(at, n int) error { return c.pack(out, span[at:], n) }); err != nil {
			return err
		}
		if err := out.checksum(); err != nil {
			return err
		}
		sums = binary.LittleEndian.AppendUint64(sums, out.sum.Sum64())
	}
	sums = binary.LittleEndian.AppendUint64(sums, seal(head, sums))
	if err := out.put(sums); err != nil {
		return err
	}
	return out.flush()
}

// seal is the checksum of a header and of the checksums of its tensors.
func seal(head, sums []byte) uint64 {
	return xxh3.HashSeed(sums, xxh3.Hash(head))
}

// buffer returns the stage, which is made once.
func (c *Cache) buffer() []byte {
	if c.stage == nil {
		c.stage = make([]byte, stageBytes)
	}
	return c.stage
}

// eachRun calls f for the slots of positions from to to: head after head, with the offset of a run of tokens in a
// surface and their number.
func (c *Cache) eachRun(from, to int, f func(at, n int) error) error {
	l := &c.memory.layout
	for h := range c.config.Heads {
		for p := from; p < to; {
			slot := c.Slot(p)
			n := min(to-p, c.memory.tokens-slot)
			if err := f(h*l.PlaneStride+slot*l.RowStride, n); err != nil {
				return err
			}
			p += n
		}
	}
	return nil
}

// pack writes n rows from the start of src.
func (c *Cache) pack(out *packer, src []byte, n int) error {
	stride := c.memory.layout.RowStride
	if stride == c.row {
		return out.add(src[:n*c.row])
	}
	for i := range n {
		if err := out.add(src[i*stride:][:c.row]); err != nil {
			return err
		}
	}
	return nil
}

// packer writes bytes through the stage and sums them up.
type packer struct {
	w      io.Writer
	stage  []byte
	n      int // bytes in stage
	summed int // of them, how many are in sum
	sum    xxh3.Hasher
}

// add writes b and adds it to the checksum. Long runs go to the writer directly.
func (p *packer) add(b []byte) error {
	for len(b) > 0 {
		if p.n == 0 && len(b) >= len(p.stage) {
			part := b[:len(p.stage)]
			_, _ = p.sum.Write(part) // a Hasher does not fail
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

// put writes b without adding it to the checksum of a tensor.
func (p *packer) put(b []byte) error {
	if err := p.checksum(); err != nil {
		return err
	}
	for len(b) > 0 {
		n := copy(p.stage[p.n:], b)
		p.n += n
		p.summed = p.n
		b = b[n:]
		if p.n == len(p.stage) {
			if err := p.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// checksum adds what is in the stage to the checksum.
func (p *packer) checksum() error {
	_, err := p.sum.Write(p.stage[p.summed:p.n])
	p.summed = p.n
	return err
}

// flush writes the stage.
func (p *packer) flush() error {
	if err := p.checksum(); err != nil {
		return err
	}
	n := p.n
	p.n, p.summed = 0, 0
	if n == 0 {
		return nil
	}
	_, err := p.w.Write(p.stage[:n])
	return err
}
