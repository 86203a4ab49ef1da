package kv

import (
	"encoding/binary"
	"os"

	"github.com/zeebo/xxh3"

	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/internal/pages"
	"github.com/anekit/anekit/unimem"
)

// batchBytes is about what one call of the system moves. More calls take longer, because each that lasts wakes a thread
// of the Go runtime; larger ones leave less in the processor's caches for the checksum. stageBytes is the size of a
// stage. maxPieces is the most pieces of a batch and parts of a call, maxSurfaces the most surfaces that are open.
const batchBytes, stageBytes, maxPieces, maxSurfaces = 1 << 20, 256 << 10, 1024, 64

// batch collects pieces of heads that one call of the system writes or reads.
type batch struct {
	*buffers
	m      *memory
	h      *header
	save   bool
	least  int    // bytes of a piece that passes by the stage
	sums   []byte // of all heads
	first  int    // tensor of surfaces[0]
	staged int    // bytes of stage
	size   int    // of pieces, in bytes
}

// buffers is what one goroutine keeps for its next batch.
type buffers struct {
	surfaces []surface
	pieces   []piece
	parts    [][]byte // of the file, in order
	stage    []byte   // packed bytes of pieces that are short, or whose rows have padding
	sum      xxh3.Hasher
}

// surface is a tensor of a memory while a batch uses it.
type surface struct {
	span  []byte
	again *unimem.Mapping // of span; nil without
	file  *os.File        // takes the bytes in place of span; nil without
	drop  *unimem.Block   // whose pages are to be dropped; nil for none
}

// piece is the tokens [from, to) of a head.
type piece struct {
	bytes        []byte // of the surface, or packed in the stage
	tensor, head int
	from, to     int
	staged       bool
}

// surface returns surface i for Save and Restore. A sparing cache has few pages of it, so it returns the second
// mapping, which has them all if an engine of this process uses the surface. If pages are absent, it returns the file.
func (c *Cache) surface(m *memory, i int, absent bool) surface {
	s := surface{span: m.spans[i]}
	if !c.sparing || m.tensors == nil || !host.Remap {
		return s
	}
	t := m.tensors[i]
	if absent {
		s.file, _ = t.Block().Share() // without it the mapping does as well
	}
	if s.file != nil {
		return s
	}
	again, err := unimem.Map(t.Block())
	if err != nil {
		s.drop = t.Block()
		return s
	}
	s.span, s.again = again.Bytes()[t.Offset():][:len(s.span)], again
	return s
}

func (s surface) close() {
	_ = s.again.Close() // which loses nothing
	_ = s.file.Close()  // nil has nothing to close
	if s.drop != nil {
		pages.Drop(s.drop)
	}
}

// absent reports whether pages of a sparing cache do not exist yet, down to slot end. To write the files of the
// surfaces does not zero them first. Padded rows, each of which is a piece, and rows longer than the stage go through
// the mapping.
func (c *Cache) absent(m *memory, end int) bool {
	row := m.layout.RowBytes()
	return c.sparing && m.tensors != nil && m.layout.RowStride == row && row <= stageBytes &&
		m.touched < min(end, m.tokens)
}

// walk calls move for the parts of the tensors [from, to) of b.m, one batch after another, and takes the checksums.
func (c *Cache) walk(b *batch, from, to int, absent bool, move func(parts [][]byte) error) error {
	b.first = from
	for i := from; i < to; i++ {
		b.surfaces = append(b.surfaces, c.surface(b.m, i, absent))
	}
	defer func() {
		for _, s := range b.surfaces {
			s.close()
		}
		clear(b.surfaces) // which keep memory
		b.surfaces = b.surfaces[:0]
		b.reset()
	}()
	row := b.m.layout.RowBytes()
	for i := from; i < to; i++ {
		for head := range b.h.heads {
			for p := b.h.first; ; {
				if b.size >= batchBytes || len(b.pieces) >= maxPieces || b.staged > 0 && b.staged+row > stageBytes {
					if err := b.move(move); err != nil {
						return err
					}
				}
				if p = b.add(i, head, p); p >= b.h.end() { // a head without tokens has one piece
					break
				}
			}
		}
	}
	return b.move(move)
}

// add adds tokens of a head from position p on, and returns the position after them.
func (b *batch) add(i, head, p int) (next int) {
	m, s, row := b.m, b.surfaces[i-b.first], b.m.layout.RowBytes()
	bytes, next := m.piece(s.span, head, p, b.h.end())
	staged := row <= stageBytes && m.tensors != nil && (s.file != nil || len(bytes) < b.least)
	if staged {
		if m.layout.RowStride != row {
			next = b.h.end()
		}
		next = min(next, p+(stageBytes-b.staged)/row)
		if b.stage == nil {
			b.stage = make([]byte, stageBytes)
		}
		bytes = b.stage[b.staged:][:(next-p)*row]
		if b.save {
			m.each(s.span, head, p, next, func(x []byte) { b.staged += copy(b.stage[b.staged:], x) })
		} else {
			b.staged += len(bytes)
		}
	}
	// The stage and the heap have the bytes as the file has them.
	n := len(b.parts) - 1
	if n >= 0 && (m.tensors == nil || staged && b.pieces[len(b.pieces)-1].staged) {
		b.parts[n] = b.parts[n][:len(b.parts[n])+len(bytes)]
	} else if len(bytes) > 0 {
		b.parts = append(b.parts, bytes)
	}
	b.pieces = append(b.pieces, piece{bytes: bytes, tensor: i, head: head, from: p, to: next, staged: staged})
	b.size += len(bytes)
	return next
}

// move moves the batch between memory and file.
func (b *batch) move(move func(parts [][]byte) error) (err error) {
	if b.save { // first: the system takes longer for pages that are not mapped yet
		b.sumAll()
	}
	if len(b.parts) > 0 {
		err = move(b.parts)
	}
	if err == nil && !b.save {
		b.sumAll()
		err = b.unstage()
	}
	b.reset()
	return err
}

func (b *batch) reset() {
	clear(b.parts)
	clear(b.pieces)
	b.parts, b.pieces, b.staged, b.size = b.parts[:0], b.pieces[:0], 0, 0
}

// sumAll takes the checksums of the pieces. A head may have pieces in several batches.
func (b *batch) sumAll() {
	for _, x := range b.pieces {
		to := b.sums[8*(x.tensor*b.h.heads+x.head):]
		starts, ends := x.from == b.h.first, x.to == b.h.end()
		if starts && ends { // a Hasher would copy it
			binary.LittleEndian.PutUint64(to, xxh3.Hash(x.bytes))
			continue
		}
		if starts {
			b.sum.Reset()
		}
		_, _ = b.sum.Write(x.bytes) // a Hasher does not fail
		if ends {
			binary.LittleEndian.PutUint64(to, b.sum.Sum64())
		}
	}
}

// unstage copies staged pieces to their surfaces.
func (b *batch) unstage() error {
	for _, x := range b.pieces {
		if !x.staged {
			continue
		}
		s, packed := b.surfaces[x.tensor-b.first], x.bytes
		if s.file == nil {
			b.m.each(s.span, x.head, x.from, x.to, func(to []byte) { packed = packed[copy(to, packed):] })
			continue
		}
		to, _ := b.m.piece(s.span, x.head, x.from, x.to)
		if _, err := s.file.WriteAt(packed, b.m.at(x.tensor, to)); err != nil {
			return err
		}
	}
	return nil
}
