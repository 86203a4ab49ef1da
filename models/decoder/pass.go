package decoder

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/unimem"
)

// memory is surfaces of a session.
type memory struct {
	opts   []unimem.Option
	blocks []*unimem.Block
	bytes  int64
}

// tensor makes a tensor on a surface of its own.
func (m *memory) tensor(l ane.Layout) (*ane.Tensor, error) {
	b, err := unimem.Open(l.Bytes(), m.opts...)
	if err != nil {
		return nil, err
	}
	m.blocks = append(m.blocks, b)
	m.bytes += int64(b.Size())
	return ane.OnBlock(b, l)
}

func (m *memory) close() (err error) {
	for _, b := range m.blocks {
		err = errors.Join(err, b.Close())
	}
	if err == nil {
		m.blocks = nil
	}
	return err
}

// pass is the requests of a set of programs of layers, and their tensors. The hidden state goes from x to y, from y to
// z and back: the output of a program is the input of the next. No program writes to x, so that the columns of tokens
// that a pass does not have never pass through the layers twice: their numbers would grow without end.
type pass struct {
	columns  int
	groups   []group
	x, y, z  *ane.Tensor
	cos, sin *ane.Tensor
	k, v     []*ane.Tensor // of the tokens of the pass, for each layer of a program
	requests []*ane.Request
}

// bind makes the requests of a set.
func (s *Session) bind(set *set, mask *ane.Tensor) (*pass, error) {
	p := &pass{columns: set.columns, groups: set.groups}
	make := func(to **ane.Tensor, layout ane.Layout, err error) error {
		if err == nil && *to == nil {
			*to, err = s.memory.tensor(layout)
		}
		return err
	}
	for i, model := range set.models {
		g := set.groups[i]
		for len(p.k) < g.layers {
			p.k, p.v = append(p.k, nil), append(p.v, nil)
		}
		in := map[string]*ane.Tensor{inputMask: mask}
		out := map[string]*ane.Tensor{}
		tensors := []struct {
			at   **ane.Tensor
			name string
			in   bool
		}{{&p.x, inputX, true}, {&p.cos, inputCos, true}, {&p.sin, inputSin, true}, {&p.y, outputY, false}}
		for j := range g.layers {
			tensors = append(tensors, struct {
				at   **ane.Tensor
				name string
				in   bool
			}{&p.k[j], outputK(j), false}, struct {
				at   **ane.Tensor
				name string
				in   bool
			}{&p.v[j], outputV(j), false})
			in[inputK(j)], in[inputV(j)] = s.cache.Keys(g.at+j), s.cache.Values(g.at+j)
		}
		for _, t := range tensors {
			find, bound := model.Output, out
			if t.in {
				find, bound = model.Input, in
			}
			layout, err := find(t.name)
			if err := make(t.at, layout, err); err != nil {
				return p, err
			}
			bound[t.name] = *t.at
		}
		if i > 0 {
			layout, err := model.Output(outputY)
			if err := make(&p.z, layout, err); err != nil {
				return p, err
			}
			if in[inputX], out[outputY] = p.y, p.z; i%2 == 0 {
				in[inputX], out[outputY] = p.z, p.y
			}
		}
		r, err := model.Bind(in, out)
		if err != nil {
			return p, err
		}
		p.requests = append(p.requests, r)
	}
	return p, nil
}

// last is the tensor of the hidden state after all layers.
func (p *pass) last() *ane.Tensor {
	if len(p.requests)%2 == 1 {
		return p.y
	}
	return p.z
}

func (p *pass) close() (err error) {
	for _, r := range p.requests {
		err = errors.Join(err, r.Close())
	}
	return err
}

// column is where the elements of a token are in a tensor of one number for each element and token.
type column struct {
	bytes  []byte
	stride int // from element to element, in bytes
}

// state returns the column of a token in a hidden state: [1, elements, 1, columns] or [columns, elements].
func state(t *ane.Tensor, token int) column {
	l := t.Layout()
	if len(l.Shape) == 4 {
		return column{t.Bytes()[2*token:], l.PlaneStride}
	}
	return column{t.Bytes()[token*l.RowStride:], 2}
}

// turns returns the column of a token in rotations: [1, 1, pairs, columns] or [1, columns, 1, pairs].
func turns(t *ane.Tensor, token int, form Form) column {
	l := t.Layout()
	if form == Engine {
		return column{t.Bytes()[2*token:], l.RowStride}
	}
	return column{t.Bytes()[token*l.PlaneStride:], 2}
}

func (c column) store(values []float32) {
	for i, f := range values {
		binary.LittleEndian.PutUint16(c.bytes[i*c.stride:], uint16(fp16.FromFloat32(f)))
	}
}

func (c column) load(values []float32) {
	for i := range values {
		values[i] = fp16.Bits(binary.LittleEndian.Uint16(c.bytes[i*c.stride:])).Float32()
	}
}

// copy copies n elements of another column.
func (c column) copy(from column, n int) {
	for i := range n {
		copy(c.bytes[i*c.stride:][:2], from.bytes[i*from.stride:][:2])
	}
}

// run takes at most p.columns tokens through all layers, and appends their keys and values to the cache.
func (s *Session) run(ctx context.Context, p *pass, tokens []int) error {
	c, form := s.model.config, s.model.o.form
	embed := s.model.folder.weights[embedding]
	at := len(s.tokens)
	for i, token := range tokens {
		embed.row(s.row, token)
		state(p.x, i).store(s.row[:c.Hidden])
		half := c.HeadDim / 2
		cos, sin := s.row[:half], s.row[half:2*half]
		s.turn(at+i, cos, sin)
		turns(p.cos, i, form).store(cos)
		turns(p.sin, i, form).store(sin)
		s.copied += int64(2*c.Hidden + 2*2*half)
	}
	if err := s.show(at); err != nil {
		return err
	}
	for i, r := range p.requests {
		if _, err := r.Evaluate(ctx); err != nil {
			return err
		}
		g := p.groups[i]
		for j := range g.layers {
			k, err := s.packed(p.k[j], len(tokens), 0)
			if err != nil {
				return err
			}
			v, err := s.packed(p.v[j], len(tokens), 1)
			if err != nil {
				return err
			}
			if err := s.cache.Append(g.at+j, k, v); err != nil {
				return err
			}
			s.copied += int64(len(k) + len(v))
		}
	}
	if err := s.cache.Advance(len(tokens)); err != nil {
		return err
	}
	s.tokens = append(s.tokens, tokens...)
	return nil
}

// turn stores cosine and sine of the pairs of a head. Frequencies are kept while they are those of the last position.
func (s *Session) turn(position int, cos, sin []float32) {
	s.model.config.Rope.rotation(s.model.config.HeadDim, position, cos, sin)
}

// packed returns the keys or values of the first n tokens of a pass, dense. Rows without padding are not copied.
func (s *Session) packed(t *ane.Tensor, n, side int) ([]byte, error) {
	l := t.Layout() // [1, columns, heads, elements]
	size := n * l.Shape[2] * l.Shape[3] * 2
	if l.Packed() {
		return t.Bytes()[:size], nil
	}
	if len(s.side[side]) < size {
		s.side[side] = make([]byte, size)
	}
	dense := s.side[side][:size]
	for i, at := 0, 0; at < size; i++ {
		row, err := t.Row(i)
		if err != nil {
			return nil, err
		}
		at += copy(dense[at:], row)
	}
	s.copied += int64(size)
	return dense, nil
}

// show unmasks the tokens of the cache before n, and masks those from n on.
func (s *Session) show(n int) error {
	set := func(from, to int, v float32) error {
		row, err := s.mask.Row(0)
		if err != nil {
			return err
		}
		for i := from; i < to; i++ {
			binary.LittleEndian.PutUint16(row[2*i:], uint16(fp16.FromFloat32(v)))
		}
		s.copied += int64(2 * max(to-from, 0))
		return nil
	}
	err := errors.Join(set(s.shown, n, 0), set(n, s.shown, masked))
	s.shown = n
	return err
}

// logitsOf computes the logits of a token of a pass.
func (s *Session) logitsOf(ctx context.Context, p *pass, token int) error {
	requests := s.direct
	if p != s.passes[0] || token != 0 {
		requests = s.apart
		state(s.alone, 0).copy(state(p.last(), token), s.model.config.Hidden)
		s.copied += int64(2 * s.model.config.Hidden)
	}
	for i, r := range requests {
		if _, err := r.Evaluate(ctx); err != nil {
			return err
		}
		from := i * s.model.head.rows
		if from >= len(s.all) {
			break
		}
		to := min(from+s.model.head.rows, len(s.all))
		state(s.parts[i], 0).load(s.all[from:to])
		s.copied += int64(4 * (to - from))
	}
	s.logits = s.all
	return nil
}

// bindHead makes the requests of the logits that read the hidden state x.
func (s *Session) bindHead(x *ane.Tensor) (requests []*ane.Request, err error) {
	for i, model := range s.model.head.models {
		if len(s.parts) <= i {
			layout, err := model.Output(outputLogits)
			if err != nil {
				return requests, err
			}
			t, err := s.memory.tensor(layout)
			if err != nil {
				return requests, err
			}
			s.parts = append(s.parts, t)
		}
		r, err := model.Bind(map[string]*ane.Tensor{inputX: x}, map[string]*ane.Tensor{outputLogits: s.parts[i]})
		if err != nil {
			return requests, err
		}
		requests = append(requests, r)
	}
	return requests, nil
}

// refuse checks tokens before anything runs.
func (s *Session) refuse(op string, tokens []int) error {
	if s.closed {
		return &Error{Op: op, Err: ErrClosed}
	}
	for i, t := range tokens {
		if t < 0 || t >= s.model.config.Vocabulary {
			return &Error{Op: op, Err: ErrVocabulary, Detail: fmt.Sprintf("token %d at position %d, where the model "+
				"has %d tokens", t, len(s.tokens)+i, s.model.config.Vocabulary)}
		}
	}
	if n := len(s.tokens) + len(tokens); n > s.model.o.tokens {
		return &Error{Op: op, Err: ErrTooLong, Detail: fmt.Sprintf("%d tokens, where the session has room for %d", n,
			s.model.o.tokens), Hint: "load the model with a larger Context, up to its positions"}
	}
	return nil
}
