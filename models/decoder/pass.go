package decoder

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/pages"
	"github.com/anekit/anekit/unimem"
)

// tensor makes a tensor on a surface of the session's scratch.
func (s *Session) tensor(l ane.Layout) (*ane.Tensor, error) {
	span, err := s.layout.Scratch().Take(max(l.Bytes(), s.least), ane.RowAlign)
	if err != nil {
		return nil, err
	}
	return ane.OnSpan(s.layout.Scratch(), span, l)
}

// pass is the requests of a set of programs of layers, and their tensors. The hidden state goes from program to program
// on the same surface: it is the output of one, and the input of the next. No program writes to x, so each pass
// computes columns without a token from the same numbers, in the form Compact from 0. If they were results of the last
// pass, they would grow without end.
type pass struct {
	*tensors
	columns  int
	set      *set
	last     *ane.Tensor // hidden state after all layers
	requests []*ane.Request
}

// tensors are those of passes of some columns.
type tensors struct {
	x        *ane.Tensor    // hidden state before all layers
	between  [3]*ane.Tensor // hidden states: of a layer, and sums of its parts
	cos, sin *ane.Tensor
	used     *ane.Tensor   // nil for a step, and in other forms than Compact
	written  int           // columns of x that may be other than 0
	k, v     []*ane.Tensor // of the tokens of the pass, for each layer of a program
}

// bind makes the requests of a set. A pass of as many columns has the same tensors, also where bind has failed for it.
func (s *Session) bind(ctx context.Context, set *set) (*pass, error) {
	if s.tensors[set.columns] == nil {
		s.tensors[set.columns] = &tensors{}
	}
	p := &pass{tensors: s.tensors[set.columns], columns: set.columns, set: set}
	state, sum := p.x, p.x // of the layer, and of the parts of it before
	for i, model := range set.models {
		piece := s.model.parts.pieces[i]
		in, out := map[string]*ane.Tensor{}, map[string]*ane.Tensor{}
		var err error
		// own binds a tensor of the pass, which it makes for the first program
		own := func(at **ane.Tensor, bound map[string]*ane.Tensor, name string,
			find func(string) (ane.Layout, error)) {
			layout, fault := find(name)
			if fault == nil && *at == nil {
				*at, fault = s.tensor(layout)
			}
			bound[name], err = *at, errors.Join(err, fault)
		}
		if p.x == nil {
			own(&p.x, in, inputX, model.Input)
			state, sum = p.x, p.x
		}
		if piece.stage != forwards {
			own(&p.cos, in, inputCos, model.Input)
			own(&p.sin, in, inputSin, model.Input)
			if s.model.o.form == Compact && p.columns > 1 {
				own(&p.used, in, inputUsed, model.Input)
			}
			if set.shown > 0 {
				own(&s.mask, in, inputMask, model.Input)
			}
			for j := range piece.layers {
				if len(p.k) <= j {
					p.k, p.v = append(p.k, nil), append(p.v, nil)
				}
				own(&p.k[j], out, outputK(j), model.Output)
				own(&p.v[j], out, outputV(j), model.Output)
				if set.shown > 0 {
					at := s.model.parts.cache(piece, j)
					in[inputK(j)], in[inputV(j)] = s.cache.Keys(at), s.cache.Values(at)
				}
			}
		}
		if in[inputX] = state; piece.stage != whole {
			in[inputSum] = sum
		}
		to := slices.IndexFunc(p.between[:], func(t *ane.Tensor) bool { return t == nil || t != state && t != sum })
		own(&p.between[to], out, outputY, model.Output)
		if sum = p.between[to]; piece.last {
			state = sum
		}
		if err != nil {
			return p, err
		}
		r, err := s.request(ctx, model, in, out)
		if err != nil {
			return p, err
		}
		p.requests = append(p.requests, r)
	}
	p.last = state
	return p, nil
}

// request binds tensors to a program.
func (s *Session) request(ctx context.Context, model *ane.Model, in, out map[string]*ane.Tensor) (r *ane.Request,
	err error,
) {
	err = s.model.with(ctx, model, func() error {
		r, err = model.Bind(in, out)
		return err
	})
	return r, err
}

func (p *pass) close() error { return closeAll(p.requests) }

func closeAll(requests []*ane.Request) (err error) {
	for _, r := range requests {
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

// rotation returns the column of a token in rotations: [1, 1, pairs, columns] or [1, columns, 1, pairs].
func rotation(t *ane.Tensor, token int, form Form) column {
	l := t.Layout()
	if form != Compact {
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
	if c.stride == 2 {
		if view, err := unimem.View[fp16.Bits](c.bytes[:2*len(values)]); err == nil {
			fp16.Decode(values, view)
			return
		}
	}
	for i := range values {
		values[i] = fp16.Bits(binary.LittleEndian.Uint16(c.bytes[i*c.stride:])).Float32()
	}
}

// embed writes the rows of tokens, and their rotations. The rows are in a mapped file.
func (s *Session) embed(p *pass, tokens []int) error {
	c, form := s.model.config, s.model.o.form
	embed := s.model.folder.weights[embedding]
	at := len(s.tokens)
	p.written = max(p.written, len(tokens))
	for i, token := range tokens {
		embed.part(s.row[:c.Hidden], token, 0)
		if embed.bits == 0 && s.model.trusting {
			if err := finite(embed.data.Name(), token*c.Hidden, s.row[:c.Hidden]); err != nil {
				return err
			}
		}
		if embed.bits > 0 { // tokens are all over the vocabulary, and the system maps pages around each that is read
			s.model.folder.release(embed.scales, embed.shifts)
		}
		state(p.x, i).store(s.row[:c.Hidden])
		half := c.HeadDim / 2
		cos, sin := s.row[:half], s.row[half:2*half]
		c.rope.rotation(c.HeadDim, at+i, cos, sin)
		rotation(p.cos, i, form).store(cos)
		rotation(p.sin, i, form).store(sin)
		s.copied += int64(2*c.Hidden + 2*2*half)
	}
	for i := len(tokens); p.used != nil && i < p.written; i++ {
		clear(state(p.x, i).bytes[:2*c.Hidden])
		s.copied += int64(2 * c.Hidden)
	}
	for i := 0; p.used != nil && i < p.columns; i++ {
		var used [1]float32
		if i < len(tokens) {
			used[0] = 1
		}
		state(p.used, i).store(used[:])
		s.copied += 2
	}
	p.written = len(tokens)
	return nil
}

// run takes at most p.columns tokens through all layers, and appends their keys and values to the cache.
func (s *Session) run(ctx context.Context, p *pass, tokens []int) error {
	at := len(s.tokens)
	if err := unimem.Guard(func() error { return s.embed(p, tokens) }, s.model.folder.blocks...); err != nil {
		return err
	}
	if err := s.unmask(at); err != nil {
		return err
	}
	s.drop(p, p.x)
	s.suspects = false
	for i, r := range p.requests {
		if err := s.evaluate(ctx, p.set.models[i], r); err != nil {
			return err
		}
		piece := s.model.parts.pieces[i]
		if piece.stage == forwards || piece.part%s.model.parts.queries > 0 {
			continue // others have the same keys
		}
		for j := range piece.layers {
			k, err := s.packed(p.k[j], len(tokens), 0)
			if err != nil {
				return err
			}
			v, err := s.packed(p.v[j], len(tokens), 1)
			if err != nil {
				return err
			}
			if err := s.cache.Append(s.model.parts.cache(piece, j), k, v); err != nil {
				return err
			}
			s.copied += int64(len(k) + len(v))
			s.suspects = s.suspects || s.model.unsure.Load() && (suspect(k) || suspect(v))
			s.drop(p, p.k[j], p.v[j])
		}
	}
	if err := s.cache.Advance(len(tokens)); err != nil {
		return err
	}
	s.tokens = append(s.tokens, tokens...)
	return nil
}

// drop drops the pages of tensors that the session no longer needs from its own mapping: an engine that maps
// surfaces itself counts them a second time. A one-token pass skips this.
func (s *Session) drop(p *pass, all ...*ane.Tensor) {
	if p.columns == 1 || !s.sparing {
		return
	}
	for _, t := range all {
		pages.Drop(t.Block())
	}
}

// evaluate runs a request of a program.
func (s *Session) evaluate(ctx context.Context, of *ane.Model, r *ane.Request) error {
	return s.model.with(ctx, of, func() error {
		_, err := r.Evaluate(ctx)
		return err
	})
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

// unmask unmasks the tokens of the cache before n, and masks those from n on.
func (s *Session) unmask(n int) error {
	if s.mask == nil { // no pass of the room has seen tokens
		return nil
	}
	row, err := s.mask.Row(0)
	if err != nil {
		return err
	}
	first, end := min(n, s.unmasked), max(n, s.unmasked)
	for i := first; i < end; i++ {
		v := float32(masked)
		if i < n {
			v = 0
		}
		binary.LittleEndian.PutUint16(row[2*i:], uint16(fp16.FromFloat32(v)))
	}
	s.copied += int64(2 * (end - first))
	s.unmasked = n
	return nil
}

// logitsOf computes the logits of a token of a pass.
func (s *Session) logitsOf(ctx context.Context, p *pass, token int) error {
	requests := s.direct
	if p.columns != s.model.head.columns || token != 0 {
		requests = s.apart
		row := s.row[:s.model.config.Hidden]
		state(p.last, token).load(row)
		state(s.alone, 0).store(row)
		s.copied += int64(2 * len(row))
	}
	for i, r := range requests {
		if err := s.evaluate(ctx, s.model.head.models[i], r); err != nil {
			return err
		}
	}
	s.ready = true
	return nil
}

// inPlace are the logits of a token where the programs have written them.
type inPlace struct {
	parts []column
	rows  int // of each part
	n     int
	room  []float32
}

func (h inPlace) len() int { return h.n }

func (h inPlace) at(i int) float32 {
	c := &h.parts[i/h.rows]
	return fp16.Bits(binary.LittleEndian.Uint16(c.bytes[i%h.rows*c.stride:])).Float32()
}

func (h inPlace) some(i int) []float32 {
	c, at := h.parts[i/h.rows], i%h.rows
	some := h.room[:min(len(h.room), h.rows-at, h.n-i)]
	column{c.bytes[at*c.stride:], c.stride}.load(some)
	return some
}

// inPlace returns the logits of the last token.
func (s *Session) inPlace() inPlace {
	s.columns = s.columns[:0]
	for _, t := range s.parts {
		s.columns = append(s.columns, state(t, 0))
	}
	return inPlace{s.columns, s.model.parts.rows, s.model.config.Vocabulary, s.row}
}

// bindHead makes the requests of the logits that read the hidden state x.
func (s *Session) bindHead(ctx context.Context, x *ane.Tensor) (requests []*ane.Request, err error) {
	for i, model := range s.model.head.models {
		if len(s.parts) <= i {
			layout, err := model.Output(outputLogits)
			if err != nil {
				return requests, err
			}
			t, err := s.tensor(layout)
			if err != nil {
				return requests, err
			}
			s.parts = append(s.parts, t)
		}
		r, err := s.request(ctx, model, map[string]*ane.Tensor{inputX: x},
			map[string]*ane.Tensor{outputLogits: s.parts[i]})
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
		return newError(op, ErrClosed, "", "")
	}
	for i, t := range tokens {
		if t < 0 || t >= s.model.config.Vocabulary {
			return newError(op, ErrVocabulary, fmt.Sprintf("token %d at position %d, where the model "+
				"has %d tokens", t, len(s.tokens)+i, s.model.config.Vocabulary), "")
		}
	}
	if n := len(s.tokens) + len(tokens); n > s.model.o.tokens {
		return s.noRoom(op, n)
	}
	return nil
}

// noRoom is the error of a call that would take tokens beyond the room of the session.
func (s *Session) noRoom(op string, tokens int) error {
	return newError(op, ErrTooLong, fmt.Sprintf("%d tokens, the session has room for %d", tokens, s.model.o.tokens),
		"load the model with a larger Context, up to its positions")
}
