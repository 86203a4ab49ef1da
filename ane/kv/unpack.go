package kv

import (
	"encoding/binary"
	"io"

	"github.com/zeebo/xxh3"
)

// vectorReader is a reader that fills several slices with one system call, as readv does. It reads less than they
// hold only at the end or with an error.
type vectorReader interface {
	readVector(parts []piece) (int, error)
}

// piece is a slice to be filled with bytes of one head.
type piece struct {
	b    []byte
	last bool // of its head
}

// sections is a file that several goroutines read at once, each from its own place.
type sections interface{ section(at int64) io.Reader }

// Of a vectorReader, slices of at least minVector bytes are filled directly, at most maxVector with one call.
const (
	minVector = 512
	maxVector = 256
)

// maxPart is the longest slice that is filled and then summed up at once: it stays in the processor's second cache.
const maxPart = 512 << 10

// unpacker reads a stream and sums it up, head by head. Short slices are filled through the stage, which holds no
// more than is left of the stream; long ones directly.
type unpacker struct {
	r      io.Reader
	vector vectorReader // r, or nil
	stage  []byte
	have   []byte // of stage, still to be handed out
	left   int    // bytes that r still has for this source

	queue  []piece // to be filled directly
	queued int     // their bytes

	sum     xxh3.Hasher
	partial bool   // sum has bytes of the head
	sums    []byte // of the heads that ended
}

func newUnpacker(r io.Reader, stage []byte, left int) *unpacker {
	u := &unpacker{r: r, stage: stage, left: left}
	if v, ok := r.(vectorReader); ok {
		u.vector, u.queue = v, make([]piece, 0, maxVector)
	}
	return u
}

// full fills b and adds it to the checksum of the head. With a vectorReader b is filled by flush at the latest.
func (u *unpacker) full(b []byte) error {
	for len(b) > 0 {
		switch {
		case len(u.have) > 0:
			n := copy(b, u.have)
			u.add(u.have[:n])
			u.have, b = u.have[n:], b[n:]
		case u.vector != nil && len(b) >= minVector:
			part := b[:min(len(b), maxPart)]
			if len(u.queue) == maxVector || u.queued+len(part) > maxPart {
				if err := u.flush(); err != nil {
					return err
				}
			}
			u.queue = append(u.queue, piece{b: part})
			u.queued += len(part)
			b = b[len(part):]
		case u.vector == nil && len(b) >= len(u.stage):
			part := b[:len(u.stage)]
			if err := u.fetch(part); err != nil {
				return err
			}
			u.add(part)
			b = b[len(part):]
		default:
			if err := u.fill(); err != nil {
				return err
			}
		}
	}
	return nil
}

// skip reads n bytes for their checksum.
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

// endHead ends the head: its checksum goes to sums when its bytes are there.
func (u *unpacker) endHead() {
	if n := len(u.queue); n > 0 {
		u.queue[n-1].last = true
		return
	}
	u.end()
}

func (u *unpacker) end() {
	u.sums = binary.LittleEndian.AppendUint64(u.sums, u.sum.Sum64())
	u.sum.Reset()
	u.partial = false
}

func (u *unpacker) add(b []byte) {
	_, _ = u.sum.Write(b) // a Hasher does not fail
	u.partial = u.partial || len(b) > 0
}

// flush fills what is queued.
func (u *unpacker) flush() error {
	if len(u.queue) == 0 {
		return nil
	}
	n, err := u.vector.readVector(u.queue)
	if err == nil && n < u.queued {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return err
	}
	for _, part := range u.queue {
		if part.last && !u.partial { // the whole head, which a Hasher would copy
			u.sums = binary.LittleEndian.AppendUint64(u.sums, xxh3.Hash(part.b))
			continue
		}
		u.add(part.b)
		if part.last {
			u.end()
		}
	}
	u.left -= u.queued
	u.queue, u.queued = u.queue[:0], 0
	return nil
}

// fill reads into an empty stage.
func (u *unpacker) fill() error {
	if len(u.have) > 0 {
		return nil
	}
	if err := u.flush(); err != nil {
		return err
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
