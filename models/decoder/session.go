package decoder

import (
	"context"
	"errors"
	"slices"

	"golang.org/x/sys/cpu"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/kv"
	"github.com/anekit/anekit/internal/errtext"
	"github.com/anekit/anekit/unimem"
)

// Session is one conversation. One goroutine at a time uses it.
type Session struct {
	model  *Model
	cache  *kv.Cache
	tokens []int     // whose keys and values are in the cache
	ready  bool      // the programs have logits of the last token
	logits []float32 // a copy of them; nil without
	copied int64
	closed bool

	suspects bool // keys or values of this pass are not finite, while the model is unsure

	opts          []unimem.Option
	layout        *unimem.Layout   // the model's weights, the surfaces of passes, the cache
	least         int              // bytes of each surface
	sparing       bool             // pages that the session no longer needs are dropped
	passes        []*pass          // a step, and longer ones; nil before the first of a set that is late
	tensors       map[int]*tensors // of passes, by their columns
	mask          *ane.Tensor      // of the tokens of the cache
	unmasked      int              // tokens of the cache that the mask does not hide
	alone         *ane.Tensor      // hidden state of the last token of a chunk
	parts         []*ane.Tensor
	direct, apart []*ane.Request // of the logits: of a step, nil before the first, and of alone
	columns       []column       // of parts
	all, row      []float32
	side          [2][]byte
}

// NewSession begins a conversation with a cache and requests of its own. opts are options of unimem.NewLayout
// for its memory. The caller closes the Session before the Model.
//
// Errors: ErrClosed, and those of unimem.NewLayoutOn, kv.NewOn and ane.Model.Bind.
func (m *Model) NewSession(opts ...unimem.Option) (*Session, error) {
	return m.session("session", opts, nil)
}

// Fork begins a second conversation with the tokens of s, and with its logits. It copies the keys and values of the
// tokens once, in memory, and counts the bytes in Copied of the new Session. The two are independent afterwards: each
// is closed by the caller, in any order.
//
// Errors: ErrClosed, and those of NewSession and kv.Cache.Fork.
func (s *Session) Fork() (*Session, error) {
	if s.closed {
		return nil, newError("fork", ErrClosed, "", "")
	}
	cache, err := s.cache.Fork()
	if err != nil {
		return nil, &Error{Base: errtext.Base{Op: "fork", Cause: err}}
	}
	if err := cache.Detach(); err != nil {
		return nil, &Error{Base: errtext.Base{Op: "fork", Cause: errors.Join(err, cache.Close())}}
	}
	f, err := s.model.session("fork", s.opts, cache)
	if err != nil {
		return nil, err
	}
	f.tokens = slices.Clone(s.tokens)
	for i, t := range s.parts {
		if s.ready && err == nil {
			_, err = ane.Copy(f.parts[i], t)
		}
	}
	if err != nil {
		return nil, &Error{Base: errtext.Base{Op: "fork", Cause: errors.Join(err, f.Close())}}
	}
	f.ready = s.ready
	return f, nil
}

// session makes a Session with a cache, which it owns, or with a new one.
func (m *Model) session(op string, opts []unimem.Option, cache *kv.Cache) (*Session, error) {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return nil, errors.Join(newError(op, ErrClosed, "", ""), cache.Close())
	}
	m.sessions++
	m.mu.Unlock()
	s := &Session{model: m, cache: cache, opts: opts, tensors: map[int]*tensors{},
		least: m.surface(), sparing: len(opts) == 0, row: make([]float32, max(m.config.Hidden, m.config.HeadDim))}
	if err := s.open(); err != nil {
		return nil, errors.Join(&Error{Base: errtext.Base{Op: op, Cause: err}}, s.Close())
	}
	return s, nil
}

func (s *Session) open() (err error) {
	m, ctx := s.model, context.Background()
	opts := append(slices.Clone(s.opts), unimem.SurfacePerSpan())
	if s.layout, err = unimem.NewLayoutOn(m.weights, 0, 0, opts...); err != nil {
		return err
	}
	if s.cache == nil {
		c := kv.Config{Layers: m.config.Layers * m.parts.caches, Heads: m.config.KVHeads / m.parts.caches,
			HeadDim: m.config.HeadDim, Context: m.rooms[0], DType: m.folder.cacheType(), Surface: s.least,
			Sparing: s.sparing}
		if m.rooms[0] < m.o.context { // spans of a Tape cannot be returned
			s.cache, err = kv.New(c, s.opts...)
		} else {
			s.cache, err = kv.NewOn(s.layout.History(), c, s.opts...)
		}
		if err != nil {
			return err
		}
	}
	s.unmasked = s.cache.Cap()
	s.passes = make([]*pass, len(m.layersOf))
	for i, set := range m.layersOf {
		if set.late {
			continue
		}
		if err := s.enter(ctx, i); err != nil {
			return err
		}
	}
	if err := s.unmask(0); err != nil {
		return err
	}
	layout, err := m.head.models[0].Input(inputX)
	if err == nil {
		s.alone, err = s.tensor(layout)
	}
	if err == nil {
		s.apart, err = s.bindHead(ctx, s.alone)
	}
	s.copied = 0
	s.count()
	return err
}

// count enters the bytes of the session into the plan.
func (s *Session) count() {
	m := s.model
	m.mu.Lock()
	m.plan.CacheBytes, m.plan.ScratchBytes = int64(s.cache.Bytes()), int64(s.layout.Scratch().Total())
	m.mu.Unlock()
}

// add adds the pass of set i, which the session has not needed before.
func (s *Session) add(ctx context.Context, op string, i int) error {
	if err := s.model.complete(ctx, op, s.model.layersOf[i]); err != nil {
		return err
	}
	if err := s.enter(ctx, i); err != nil {
		return &Error{Base: errtext.Base{Op: op, Cause: err}}
	}
	s.count()
	return nil
}

// enter binds the pass of set i, and with the first step the logits that read its hidden state.
func (s *Session) enter(ctx context.Context, i int) error {
	p, err := s.bind(ctx, s.model.layersOf[i])
	if err == nil && p.columns == s.model.head.columns && s.direct == nil {
		var direct []*ane.Request
		if direct, err = s.bindHead(ctx, p.last); err != nil {
			return errors.Join(err, p.close(), closeAll(direct))
		}
		s.direct = direct
	}
	if err != nil {
		return errors.Join(err, p.close())
	}
	s.passes[i] = p
	return nil
}

// makeRoom grows the cache to the least room for a number of tokens. It first closes the requests of the old room, which
// hold its tensors. A later pass binds others.
func (s *Session) makeRoom(op string, tokens int) (err error) {
	if tokens <= s.cache.Cap() {
		return nil
	}
	rooms := s.model.rooms
	i := slices.IndexFunc(rooms, func(n int) bool { return tokens <= n })
	if i < 0 {
		return s.noRoom(op, tokens)
	}
	for i, p := range s.passes {
		if p != nil && p.set.shown > 0 {
			err = errors.Join(err, p.close())
			s.passes[i] = nil
		}
	}
	if err == nil {
		err = s.cache.Reserve(rooms[i])
	}
	if err != nil {
		return &Error{Base: errtext.Base{Op: op, Cause: err}}
	}
	s.mask, s.unmasked = nil, rooms[i] // bind makes one, of zeros
	return nil
}

// surface is the least number of bytes of a session's surfaces: 0, or on an engine with ane.Info.MinSurface the size
// of all of them. What one program writes another reads beside the cache, so that both sides have one size.
func (m *Model) surface() (n int) {
	if m.device.Info().MinSurface == 0 {
		return 0
	}
	for _, set := range append(m.layersOf[:len(m.layersOf):len(m.layersOf)], m.head) {
		for _, of := range set.models {
			for _, l := range slices.Concat(of.Inputs(), of.Outputs()) {
				n = max(n, of.SurfaceSize(l, nil))
			}
		}
	}
	return n
}

// Prefill takes tokens, in chunks. Afterwards Logits has those of the last one. Without tokens it does nothing.
//
// Errors: ErrVocabulary, ErrTooLong, ErrClosed (nothing has run), those of Load, such as ErrNaN, and of
// ane.Request.Evaluate. After these the session has the tokens before the chunk that failed, and no logits.
func (s *Session) Prefill(ctx context.Context, tokens []int) error {
	if err := s.refuse("prefill", tokens); err != nil {
		return err
	}
	if err := s.makeRoom("prefill", len(s.tokens)+len(tokens)); err != nil {
		return err
	}
	for len(tokens) > 0 {
		i, _ := s.model.cheapest(len(tokens))
		n := min(len(tokens), s.model.layersOf[i].columns)
		if err := s.take(ctx, "prefill", i, tokens[:n], n == len(tokens)); err != nil {
			return err
		}
		tokens = tokens[n:]
	}
	return nil
}

// costs are those of a step and of the weights that a pass of the form Compact reads, in tokens of a pass. They are
// measured on AVX2 with weights of 16, 8 and 4 bits.
func (m *Model) costs() (step, pass int) {
	_, bits := m.config.quantization.of()
	if bits == 0 {
		bits = 16
	}
	return 4 + bits*3/8, 2 + bits
}

// fewTokens is the longest pass whose columns without a token cost nothing, on processors whose kernels skip them.
const fewTokens = 64

// cheapest returns the first set of the columns that take the first of n tokens, and the cost of all n: a longer pass
// that is partly empty, or shorter ones.
func (m *Model) cheapest(n int) (first, cost int) {
	each := len(m.shown)
	last := len(m.layersOf) - each
	if m.o.form != Compact {
		return min(last, n-1), 0
	}
	step, pass := m.costs()
	skips := cpu.X86.HasAVX2 && !cpu.X86.HasAVX512F
	price := func(i int) int {
		switch columns := m.layersOf[i].columns; {
		case i == 0:
			return step
		case skips && columns <= fewTokens:
			return pass + min(n, columns)
		default:
			return pass + columns
		}
	}
	i := slices.IndexFunc(m.layersOf, func(s *set) bool { return n <= s.columns })
	switch i {
	case -1:
		return last, price(last)
	case 0:
		return 0, price(0)
	}
	_, rest := m.cheapest(n - m.layersOf[i-each].columns)
	if shorter := price(i-each) + rest; shorter < price(i) {
		return i - each, shorter
	}
	return i, price(i)
}

// show returns the index in shown for a pass after some tokens, in a cache with a room. The first one of several
// columns sees no token.
func (m *Model) show(tokens int, several bool, room int) int {
	if last := len(m.shown) - 1; tokens == 0 && several && m.shown[last] == 0 {
		return last
	}
	first := max(0, slices.Index(m.rooms, room))
	return first + slices.IndexFunc(m.shown[first:], func(n int) bool { return tokens <= n })
}

// Step takes one token. Errors are those of Prefill.
func (s *Session) Step(ctx context.Context, token int) error {
	one := [1]int{token}
	if err := s.refuse("step", one[:]); err != nil {
		return err
	}
	return s.take(ctx, "step", 0, one[:], true)
}

// take takes the tokens of one pass of as many columns as set i, the first of them, has. After an error the tokens before it remain.
func (s *Session) take(ctx context.Context, op string, i int, tokens []int, logits bool) error {
	s.ready, s.logits = false, nil
	before := len(s.tokens)
	if err := s.makeRoom(op, before+len(tokens)); err != nil {
		return err
	}
	i += s.model.show(before, i > 0, s.cache.Cap())
	if s.passes[i] == nil {
		if err := s.add(ctx, op, i); err != nil {
			return err
		}
	}
	p := s.passes[i]
	err := s.run(ctx, p, tokens)
	if err == nil && logits {
		err = s.logitsOf(ctx, p, len(tokens)-1)
	}
	if err == nil {
		err = s.look(op, len(tokens), logits)
	}
	if err != nil {
		s.tokens, s.ready = s.tokens[:before], false
		if fault := (*Error)(nil); errors.As(err, &fault) && fault.Err == ErrNaN {
			fault.Op, fault.Cause = op, s.cache.Truncate(before)
			return fault
		}
		if changed := s.model.folder.changed(op); changed != nil {
			changed.Cause = s.cache.Truncate(before)
			return changed
		}
		return &Error{Base: errtext.Base{Op: op, Cause: errors.Join(err, s.cache.Truncate(before))}}
	}
	return nil
}

// Logits returns a number for each token of the vocabulary, the higher, the more likely it comes next: of the last
// token taken. They are valid until the next call of Prefill, Step or Truncate; nil before the first token, and after
// a restored snapshot. The first call after a pass copies them.
func (s *Session) Logits() []float32 {
	if !s.ready || s.logits != nil {
		return s.logits
	}
	h := s.inPlace()
	if s.all == nil {
		s.all = make([]float32, h.n)
	}
	s.logits = s.all
	for i := range h.parts {
		from := i * h.rows
		h.parts[i].load(s.logits[from:min(from+h.rows, h.n)])
	}
	s.copied += int64(4 * h.n)
	return s.logits
}

// Next returns the token that t chooses by the logits of the last token, which it reads in place. For a nil t it is the
// token of the largest. It is -1 without logits, and where Sampler.Next is.
func (s *Session) Next(t *Sampler) int {
	if !s.ready {
		return -1
	}
	return choose(t, s.inPlace())
}

// Tokens returns the tokens taken so far. The caller must not change them.
func (s *Session) Tokens() []int { return s.tokens }

// Position is the position of the next token: the number of tokens taken.
func (s *Session) Position() int { return len(s.tokens) }

// Cache returns the keys and values of the tokens. The Session owns it.
func (s *Session) Cache() *kv.Cache { return s.cache }

// Copied is the number of bytes that the session has copied so far. These are rows of the embedding, rotations and
// masks into the inputs, keys and values into the cache, and logits to float32 if Logits is called. It includes
// kv.Cache.Copied.
func (s *Session) Copied() int64 { return s.copied + s.cache.Copied() }

// Truncate keeps the oldest n tokens. Logits is nil afterwards, unless n is Position.
//
// Errors: ErrTooLong (the session has fewer tokens), ErrClosed.
func (s *Session) Truncate(n int) error {
	if s.closed {
		return newError("truncate", ErrClosed, "", "")
	}
	if n < 0 || n > len(s.tokens) {
		return &Error{Base: errtext.Base{Op: "truncate", Err: ErrTooLong, Cause: s.cache.Truncate(max(n,
			len(s.tokens)+1))}}
	}
	if n == len(s.tokens) {
		return nil
	}
	if err := s.cache.Truncate(n); err != nil {
		return &Error{Base: errtext.Base{Op: "truncate", Cause: err}}
	}
	s.tokens, s.ready, s.logits = s.tokens[:n], false, nil
	return nil
}

// Close frees the session's requests and memory. Repeated calls do nothing. Errors are those of ane.Request.Close and
// of the memory's Close; a repeated call closes what is left then.
func (s *Session) Close() error {
	if s.closed {
		return nil
	}
	var errs []error
	for _, p := range s.passes {
		if p != nil {
			errs = append(errs, p.close())
		}
	}
	errs = append(errs, closeAll(s.direct), closeAll(s.apart))
	if s.cache != nil {
		errs = append(errs, s.cache.Close())
	}
	if err := errors.Join(append(errs, s.layout.Close())...); err != nil {
		return &Error{Base: errtext.Base{Op: "close", Cause: err}}
	}
	s.closed, s.ready, s.logits = true, false, nil
	s.model.mu.Lock()
	s.model.sessions--
	s.model.mu.Unlock()
	return nil
}
