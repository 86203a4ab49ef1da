package kv

import (
	"errors"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/unimem"
)

// memory is the surfaces of a cache. Index 2*layer has the keys of a layer, 2*layer+1 its values.
type memory struct {
	tokens  int        // room
	layout  ane.Layout // of one layer and side
	spans   [][]byte
	tensors []*ane.Tensor
	all     [2]*ane.Tensor // all keys and all values of joint memory
	tapes   []*unimem.Tape // that the cache owns; nil for memory of NewOn

	lent       *unimem.Tape // of NewOn
	generation uint64       // of lent
}

// form is how the surfaces are cut.
type form uint8

const (
	apart form = iota // a surface for each layer and side
	joint             // one surface of all keys, one of all values
)

// surfaces returns the layers that one surface holds.
func (f form) layers(c Config) int {
	if f == joint {
		return c.Layers
	}
	return 1
}

// newMemory makes surfaces for tokens tokens.
func newMemory(c Config, f form, tokens int, opts []unimem.Option) (*memory, error) {
	return assemble(c, f, tokens, func(int, size int) (*unimem.Tape, error) { return unimem.Start(size, opts...) })
}

// adoptMemory makes second mappings of the surfaces of m. The error matches unimem.ErrShare if the system has none.
func adoptMemory(c Config, f form, m *memory) (*memory, error) {
	return assemble(c, f, m.tokens, func(i, size int) (tape *unimem.Tape, err error) {
		file, err := m.block(i).Share()
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		return unimem.AdoptTape(file, size)
	})
}

// assemble makes the surfaces of Tapes that start returns, each of which holds one span. After an error none is open.
func assemble(c Config, f form, tokens int, start func(i, size int) (*unimem.Tape, error)) (_ *memory, err error) {
	m := &memory{tokens: tokens}
	defer func() {
		if err != nil {
			err = errors.Join(err, m.retire())
		}
	}()
	whole, err := c.layout("cache", f.layers(c), tokens)
	if err != nil {
		return nil, err
	}
	count := 2 * c.Layers / f.layers(c)
	for i := range count {
		tape, err := start(i, max(whole.Bytes(), c.Surface))
		if err != nil {
			return nil, err
		}
		m.tapes = append(m.tapes, tape)
		if err := m.add(c, f, tape, i%2); err != nil {
			return nil, err
		}
	}
	m.sort(c, f)
	return m, nil
}

// lentMemory takes the surfaces from a Tape, in a form that its spans suit.
func lentMemory(c Config, tokens int, tape *unimem.Tape) (*memory, form, error) {
	m, f := &memory{tokens: tokens, lent: tape, generation: tape.Generation()}, joint
	if tape.SurfacePerSpan() {
		f = apart
	}
	for i := range 2 * c.Layers / f.layers(c) {
		if err := m.add(c, f, tape, i%2); err != nil {
			return nil, f, err
		}
	}
	m.sort(c, f)
	return m, f, nil
}

// block returns the Block of surface i of memory with a surface for each layer and side.
func (m *memory) block(i int) *unimem.Block { return m.tensors[i].Block() }

// add takes the next surface from tape and makes its tensors.
func (m *memory) add(c Config, f form, tape *unimem.Tape, side int) error {
	names := [2]string{"keys", "values"}
	whole, err := c.layout(names[side], f.layers(c), m.tokens)
	if err != nil {
		return err
	}
	if m.layout, err = c.layout(names[side], 1, m.tokens); err != nil {
		return err
	}
	bytes := whole.Bytes()
	if tape.SurfacePerSpan() {
		bytes = max(bytes, c.Surface)
	}
	span, err := tape.Take(bytes, ane.RowAlign)
	if err != nil {
		return err
	}
	span = span[:whole.Bytes()]
	if f == joint {
		if m.all[side], err = ane.OnSpan(tape, span, whole); err != nil {
			return err
		}
	}
	size := m.layout.Bytes()
	for at := 0; at < len(span); at += size {
		part := span[at : at+size : at+size]
		t, err := ane.OnSpan(tape, part, m.layout)
		if err != nil {
			return err
		}
		m.spans, m.tensors = append(m.spans, part), append(m.tensors, t)
	}
	return nil
}

// sort brings the surfaces of joint memory, all keys before all values, into the order of memory.
func (m *memory) sort(c Config, f form) {
	if f != joint {
		return
	}
	spans, tensors := m.spans, m.tensors
	m.spans, m.tensors = make([][]byte, len(spans)), make([]*ane.Tensor, len(tensors))
	for i := range spans {
		to := 2*(i%c.Layers) + i/c.Layers
		m.spans[to], m.tensors[to] = spans[i], tensors[i]
	}
}

// stale reports whether the memory is of a Tape that was cleared or closed.
func (m *memory) stale() bool {
	return m.lent != nil && m.lent.Generation() != m.generation
}

// retire makes every tensor of the memory stale and frees what no request holds. The rest stays in tapes, and a
// repeated call frees it.
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
	m.tapes, m.spans, m.tensors, m.all = held, nil, nil, [2]*ane.Tensor{}
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
