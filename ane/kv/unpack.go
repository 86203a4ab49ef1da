package kv

import (
	"encoding/binary"
	"io"

	"github.com/zeebo/xxh3"
)

// maxPart is the longest slice that is filled and then summed up at once: it stays in the processor's second cache.
const maxPart = 512 << 10

// unpacker reads heads from a stream and sums each of them up. Heads that fit into the stage are read into it, many
// with one call, summed up there and copied; longer ones are read to their places.
type unpacker struct {
	r     io.Reader
	stage []byte // of whole heads, if one fits
	have  []byte // of stage, still to be handed out
	left  int    // bytes that r still has
	head  int    // bytes of a head

	known bool // sums has the checksum of the head already
	sum   xxh3.Hasher
	sums  []byte
}

func newUnpacker(stage []byte, head int) *unpacker {
	if head > 0 && head <= len(stage) {
		stage = stage[:len(stage)/head*head]
	}
	return &unpacker{stage: stage, head: head}
}

// open goes to a stream of count heads, whose checksums it appends to sums.
func (u *unpacker) open(r io.Reader, count int, sums []byte) {
	u.r, u.left, u.have, u.sums = r, count*u.head, nil, sums
}

// begin begins a head and skips its first bytes.
func (u *unpacker) begin(skip int) error {
	u.known = false
	if u.head <= len(u.stage) {
		if u.head > 0 {
			if err := u.fill(); err != nil {
				return err
			}
		}
		u.whole(u.have[:u.head])
	}
	return u.skip(skip)
}

// whole sums up a whole head, which a Hasher would copy.
func (u *unpacker) whole(b []byte) {
	u.sums = binary.LittleEndian.AppendUint64(u.sums, xxh3.Hash(b))
	u.known = true
}

// end skips the last bytes of a head and ends it.
func (u *unpacker) end(skip int) error {
	err := u.skip(skip)
	if err == nil && !u.known {
		u.sums = binary.LittleEndian.AppendUint64(u.sums, u.sum.Sum64())
		u.sum.Reset()
	}
	return err
}

// full fills b with bytes of the head.
func (u *unpacker) full(b []byte) error {
	for len(b) > 0 {
		switch {
		case len(u.have) > 0:
			n := copy(b, u.have)
			u.add(u.have[:n])
			u.have, b = u.have[n:], b[n:]
		case len(b) >= len(u.stage):
			part := b[:min(len(b), maxPart)]
			if err := u.fetch(part); err != nil {
				return err
			}
			if len(part) == u.head {
				u.whole(part)
			} else {
				u.add(part)
			}
			b = b[len(part):]
		default:
			if err := u.fill(); err != nil {
				return err
			}
		}
	}
	return nil
}

// skip reads n bytes of the head for their checksum.
func (u *unpacker) skip(n int) error {
	for n > 0 {
		if err := u.fill(); err != nil {
			return err
		}
		k := min(n, len(u.have))
		u.add(u.have[:k])
		u.have = u.have[k:]
		n -= k
	}
	return nil
}

// add adds bytes of the head to its checksum.
func (u *unpacker) add(b []byte) {
	if !u.known {
		_, _ = u.sum.Write(b) // a Hasher does not fail
	}
}

// fill reads into an empty stage.
func (u *unpacker) fill() error {
	if len(u.have) > 0 {
		return nil
	}
	part := u.stage[:min(len(u.stage), u.left)]
	if len(part) == 0 {
		return io.ErrUnexpectedEOF
	}
	if err := u.fetch(part); err != nil {
		return err
	}
	u.have = part
	return nil
}

// fetch reads len(b) bytes.
func (u *unpacker) fetch(b []byte) error {
	if _, err := io.ReadFull(u.r, b); err != nil {
		return err
	}
	u.left -= len(b)
	return nil
}
