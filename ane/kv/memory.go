package kv

import (
	"errors"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/unimem"
)

// memory is the surfaces of a cache, or the tokens of a snapshot on the heap. Index 2*layer has the keys of a layer,
// 2*layer+1 its values.
type memory struct {
	tokens  int        // room
	first   int        // the position of slot 0
	layout  ane.Layout // of one layer and side
	spans   [][]byte
	tensors []*ane.Tensor
	tapes   []*unimem.Tape // that the cache owns; nil for memory of NewOn
	touched int            // the position after the last token that it had: pages before it exist

	lent       *unimem.Tape // of NewOn
	generation uint64       // of lent
}

// newMemory makes surfaces for tokens tokens.
func newMemory(c Config, tokens int, opts []unimem.Option) (*memory, error) {
	return assemble(c, tokens, func(_, size int) (*unimem.Tape, error) { return unimem.Start(size, opts...) })
}

// adoptMemory makes second mappings of the surfaces of m. The error matches unimem.ErrShare if the system has none.
func adoptMemory(c Config, m *memory) (*memory, error) {
	return assemble(c, m.tokens, func(i, size int) (tape *unimem.Tape, err error) {
		file, err := m.tensors[i].Block().Share()
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		return unimem.AdoptTape(file, size)
	})
}

// lentMemory takes the surfaces from a Tape.
func lentMemory(c Config, tokens int, tape *unimem.Tape) (*memory, error) {
	m := &memory{tokens: tokens, lent: tape, generation: tape.Generation()}
	for i := range 2 * c.Layers {
		if err := m.add(c, tape, i); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// assemble makes the surfaces of Tapes that start returns, each of which holds one span. After an error none is open.
func assemble(c Config, tokens int, start func(i, size int) (*unimem.Tape, error)) (_ *memory, err error) {
	m := &memory{tokens: tokens}
	defer func() {
		if err != nil {
			err = errors.Join(err, m.retire())
		}
	}()
	layout, err := c.layout("cache", tokens)
	if err != nil {
		return nil, err
	}
	for i := range 2 * c.Layers {
		tape, err := start(i, max(layout.Bytes(), c.Surface))
		if err != nil {
			return nil, err
		}
		m.tapes = append(m.tapes, tape)
		if err := m.add(c, tape, i); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// add takes surface i from tape and makes its tensor.
func (m *memory) add(c Config, tape *unimem.Tape, i int) (err error) {
	if m.layout, err = c.layout([2]string{"keys", "values"}[i%2], m.tokens); err != nil {
		return err
	}
	bytes, size := m.layout.Bytes(), m.layout.Bytes()
	if tape.SurfacePerSpan() {
		size = max(size, c.Surface)
	}
	span, err := tape.Take(size, ane.RowAlign)
	if err != nil {
		return err
	}
	span = span[:bytes:bytes]
	t, err := ane.OnSpan(tape, span, m.layout)
	if err != nil {
		return err
	}
	m.spans, m.tensors = append(m.spans, span), append(m.tensors, t)
	return nil
}

// stale reports whether the memory is of a Tape that was cleared or closed.
func (m *memory) stale() bool {
	return m.lent != nil && m.lent.Generation() != m.generation
}

// retire makes every tensor of the memory stale, except those of a lent Tape, which requests may be using, and frees
// what no request holds. The rest stays in tapes, and a repeated call frees it.
func (m *memory) retire() (err error) {
	var held []*unimem.Tape
	for _, t := range m.tapes {
		t.Clear()
		switch e := t.Close(); {
		case errors.Is(e, unimem.ErrInUse):
			held = append(held, t)
		case e != nil:
			err = errors.Join(err, e)
		}
	}
	m.tapes, m.spans, m.tensors = held, nil, nil
	return err
}

// bytes is the size of the surfaces.
func (m *memory) bytes() (n int) {
	for _, s := range m.spans {
		n += len(s)
	}
	return n
}

// copySlots copies the first slots of every head, counts[layer] of a layer, and returns the number of bytes.
func (m *memory) copySlots(from *memory, counts func(layer int) int) (n int) {
	for i := range m.spans {
		bytes := counts(i/2) * m.layout.RowStride
		for h := range m.layout.Channels {
			n += copy(m.spans[i][h*m.layout.PlaneStride:][:bytes], from.spans[i][h*from.layout.PlaneStride:][:bytes])
		}
	}
	return n
}

// maxPiece is the longest piece of a head in bytes. It stays in the processor's second-level cache, so its checksum and
// its copy read each byte from memory once.
const maxPiece = 256 << 10

// slot is the index of position p on the token axis.
func (m *memory) slot(p int) int {
	p -= m.first
	if p >= m.tokens { // of a window
		p %= m.tokens
	}
	return p
}

// piece returns the bytes of positions [p, to) of a head of a span, without padding, and the position after them. It
// stops early after maxPiece, and where the bytes are no longer adjacent.
func (m *memory) piece(span []byte, head, p, to int) (b []byte, next int) {
	row := m.layout.RowBytes()
	slot := m.slot(p)
	n := min(to-p, m.tokens-slot, max(1, maxPiece/row))
	if m.layout.RowStride != row {
		n = min(n, 1)
	}
	return span[head*m.layout.PlaneStride+slot*m.layout.RowStride:][:n*row], p + n
}

// each calls f for the bytes of positions [p, to) of a head, piece by piece.
func (m *memory) each(span []byte, head, p, to int, f func([]byte)) {
	for p < to {
		var b []byte
		b, p = m.piece(span, head, p, to)
		f(b)
	}
}

// at is the offset of a piece in the file of surface i.
func (m *memory) at(i int, piece []byte) int64 {
	return int64(m.tensors[i].Offset() + cap(m.spans[i]) - cap(piece))
}
