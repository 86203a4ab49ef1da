package kv

import (
	"encoding/binary"
	"io"
	"os"

	"github.com/zeebo/xxh3"

	"github.com/anekit/anekit/internal/errtext"
)

// Save writes a snapshot of the tokens of the cache, without those appended without Advance. Equal caches with equal
// fingerprints give equal bytes. After the header, Save writes 256 KiB or a token of a head at most at a time, and at
// last the checksums. It needs a buffer of 256 KiB.
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
	raw, sums := h.encode(), make([]byte, 8*2*h.layers*h.heads, h.trailer())
	write, least := writeTo(w)
	before := [][]byte{raw}
	b := &batch{buffers: &c.buffers[0], m: c.memory, h: h, save: true, least: least, sums: sums}
	each := h.group(batchBytes)
	for i := 0; i < 2*h.layers; i += each {
		err := c.walk(b, i, min(i+each, 2*h.layers), false, func(parts [][]byte) error {
			if before != nil {
				parts, before = append(before, parts...), nil
			}
			return write(parts)
		})
		if err != nil {
			return err
		}
	}
	c.dropAll()
	return write(append(before, seal(raw, sums)))
}

// seal returns the checksums of all heads with one more: of the header and of themselves.
func seal(raw, sums []byte) []byte {
	return binary.LittleEndian.AppendUint64(sums, xxh3.HashSeed(sums, xxh3.Hash(raw)))
}
