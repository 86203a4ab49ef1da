package decoder

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/kv"
	"github.com/anekit/anekit/internal/errtext"
	"github.com/anekit/anekit/unimem"
)

// set is the programs of all layers for passes of columns tokens, or those of the logits.
type set struct {
	name    string
	columns int
	shown   int  // tokens of the cache that its passes attend to
	room    int  // tokens of the cache
	late    bool // a session that first needs it completes it
	loaded  bool // of a late one; under the model's mu
	models  []*ane.Model
	counted int // programs that the plan counts before there are models of them
	// compiled has the index in Plan.Programs of the first program of a signature, wants has its weights.
	compiled map[string]int
	wants    map[string]map[string]want
}

func newSet(name string, columns, shown int) *set {
	return &set{name: name, columns: columns, shown: shown, compiled: map[string]int{}, wants: map[string]map[string]want{}}
}

// engineStep is the columns of a step in the form Engine, of which it uses the first: rows of 64 bytes have no padding.
const engineStep = 32

// fewColumns is the shortest pass beyond a step in the form Compact. The others have twice as many each, up to a chunk.
const fewColumns = 8

// leastShown is the first of prefixes: of a step with few tokens held the weights then take nearly all time.
const leastShown = 64

// prefixes are the tokens of a room that programs attend to, so that a step in a large room costs what the tokens
// held cost. The programs copy a part of the room first: one of more than a quarter takes no less than the whole.
func (o *options) prefixes(room int) (all []int) {
	for n := leastShown; o.form == Compact && 4*n <= room; n *= 4 {
		all = append(all, n)
	}
	return append(all, room)
}

// rooms are the numbers of tokens that the cache of a session has room for, one after the other as it grows.
func (o *options) rooms(grows bool) (all []int) {
	for n := roundUp(o.reserve); grows && n > 0 && n < o.context; n *= 2 {
		all = append(all, n)
	}
	return append(all, o.context)
}

// roundUp rounds a number of tokens up to what a cache reserves.
func roundUp(tokens int) int { return (tokens + kv.Step - 1) / kv.Step * kv.Step }

// settle sets the defaults of options, and refuses impossible ones.
func (o *options) settle(c Config) error {
	if !slices.Contains(Forms(), o.form) {
		return newError("load", ErrLimits, fmt.Sprintf("no form %d", int(o.form)), "give one of Forms")
	}
	if o.context == 0 {
		o.context = min(c.Positions, 4096)
	}
	if o.context < 1 || o.context > c.Positions {
		return &Error{Base: errtext.Base{Op: "load", Err: ErrTooLong,
			Detail: fmt.Sprintf("%d tokens, the model has %d positions", o.context, c.Positions)}, Name: "Context"}
	}
	o.tokens = o.context
	o.context = roundUp(o.context)
	if o.reserve < 0 {
		return &Error{Base: errtext.Base{Op: "load", Err: ErrLimits, Detail: fmt.Sprintf("%d tokens", o.reserve)},
			Name: "Reserve"}
	}
	const most = 1 << 31 // elements of a tensor
	if per := c.KVHeads * c.HeadDim; o.context > most/per {
		return &Error{Base: errtext.Base{Op: "load", Err: ErrTooLong, Hint: "give fewer tokens",
			Detail: fmt.Sprintf("%d tokens, the keys of a layer have room for %d", o.tokens, most/per)},
			Name: "Context"}
	}
	if o.chosen = o.chunk != 0; !o.chosen {
		o.chunk = map[Form]int{Engine: 64, EngineInt8: 64, Compact: 256}[o.form]
	}
	if o.chunk < 32 || o.chunk%32 != 0 || o.chunk > 4096 {
		return &Error{Base: errtext.Base{Op: "load", Err: ErrLimits,
			Detail: fmt.Sprintf("%d is not a multiple of 32 up to 4096", o.chunk)}, Name: "Chunk"}
	}
	return nil
}

// weightBlock is the size of the Blocks of converted weights, whose pages appear when they are written.
const weightBlock = 64 << 20

// packedAhead bounds the packed integers whose pages Load maps. Each 100 MiB take some 10 ms, wherever they are mapped.
const packedAhead = 144 << 20

// Load builds the programs of a model, compiles and loads them on d. It converts weights where it must, and maps pages of
// the others.
//
// Errors: ErrNaN (a weight is not finite; Name is its tensor; in the form Compact the first tokens may find it),
// ErrLimits (the programs exceed the limits of a chip), ErrTooLong (Context is beyond the positions of the model),
// unimem.ErrChanged (a file became shorter), and those of ane.Device.Compile and ane.Model.Load.
func Load(ctx context.Context, d *ane.Device, f *Folder, opts ...Option) (*Model, error) {
	done, err := f.use()
	if err != nil {
		return nil, err
	}
	m := &Model{device: d, folder: f, config: f.config, done: done, sharing: map[*ane.Model]bool{}}
	for _, o := range opts {
		o(&m.o)
	}
	if err := f.guard("load", func() error { return m.load(ctx) }); err != nil {
		return nil, errors.Join(err, m.Close(context.WithoutCancel(ctx)))
	}
	return m, nil
}

// divide decides the programs and their number.
func (m *Model) divide() error {
	if err := m.o.settle(m.config); err != nil {
		return err
	}
	cut, err := m.o.cut(m.config)
	if err != nil {
		return err
	}
	m.parts = cut
	// surfaces of one size need the largest of all passes
	late := m.o.form == Compact && (m.device == nil || m.device.Info().MinSurface == 0)
	m.rooms, m.shown = nil, nil
	for _, room := range m.o.rooms(late) {
		m.shown = append(m.shown, m.o.prefixes(room)...)
		for len(m.rooms) < len(m.shown) {
			m.rooms = append(m.rooms, room)
		}
	}
	if late {
		m.rooms, m.shown = append(m.rooms, m.o.context), append(m.shown, 0) // of the first pass of a prompt
	}
	add := func(name string, columns int) {
		for i, shown := range m.shown {
			s := newSet(name, columns, shown)
			s.room = m.rooms[i]
			s.late = late
			m.layersOf = append(m.layersOf, s)
		}
	}
	step := map[Form]int{Engine: engineStep, EngineInt8: engineStep, Compact: 1}[m.o.form]
	m.head = newSet("head", step, 0)
	add("step", step)
	if m.o.form == Compact {
		for n := fewColumns; n < m.o.chunk; n *= 2 {
			add("few", n)
		}
		add("chunk", m.o.chunk)
		m.plan = m.predict(cut)
		return nil
	}
	if limit := m.o.loadLimit(); !m.o.chosen && limit.Known() &&
		int64(2*len(cut.pieces)+cut.parts) > limit.Value {
		m.o.chunk = step // programs of a step take chunks too, so that there are half as many
	}
	if m.o.chunk > step {
		add("chunk", m.o.chunk)
	}
	m.plan = m.predict(cut)
	return nil
}

func (m *Model) load(ctx context.Context) error {
	if err := m.divide(); err != nil {
		return err
	}
	if err := m.plan.check(); err != nil {
		return err
	}
	var err error
	if m.weights, err = unimem.Start(0, unimem.InBlocks(weightBlock)); err != nil {
		return &Error{Base: errtext.Base{Op: "load", Cause: err}}
	}
	m.trusting = m.trusts()
	s := &store{folder: m.folder, memory: m.weights, made: map[request]*elements{}, dense: map[string]bool{},
		trusts: m.trusting}
	if m.o.form == Compact {
		if err := s.prepare(ctx); err != nil {
			return err
		}
	}
	// prepare has checked packed ones, and sessions look at each row that they take
	if w := m.folder.weights[embedding]; (w.bits == 0 || m.o.form != Compact) &&
		(!m.trusting || w.bytes() < trustedBytes) {
		if err := w.check(); err != nil {
			return err
		}
	}
	programs := m.programs(s.dense, m.early()...)
	compiled := m.layersOf[0].kinds(programs)
	for i, p := range programs {
		if p.set.late && i >= compiled {
			if err := m.foresee(s, p); err != nil {
				return err
			}
		} else if err := m.add(ctx, s, p); err != nil {
			return err
		}
	}
	m.store, s.trusts = s, false
	m.unsure.Store(len(s.unseen) > 0)
	if m.plan.WeightsMapped, m.plan.WeightsConverted = s.sizes(); !m.folder.mapped {
		m.plan.WeightsRead, m.plan.WeightsMapped = m.plan.WeightsMapped, 0
	}
	return m.mapAhead(ctx, s.mapped())
}

// mapAhead maps the pages of the tensors that programs read in the file, and gives back those of all others.
func (m *Model) mapAhead(ctx context.Context, read map[*byte]bool) error {
	ahead := int64(packedAhead)
	for _, name := range slices.Sorted(maps.Keys(m.folder.weights)) {
		w := m.folder.weights[name]
		for _, t := range w.tensors() {
			switch {
			case !read[&t.Bytes()[0]]: // it was converted or checked, and is read rarely or not again
				m.folder.release(t)
				continue
			case w.bits > 0 && t.Name() != w.data.Name(): // prepare has read it
				continue
			case w.bits > 0:
				if ahead -= t.Size(); ahead < 0 {
					continue
				}
			}
			if err := m.populate(ctx, t); err != nil {
				return err
			}
		}
	}
	return nil
}

// complete compiles and loads the programs of a set that no session has needed before, or what a failed call left.
func (m *Model) complete(ctx context.Context, op string, s *set) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !s.late || s.loaded {
		return nil
	}
	err := m.folder.guard(op, func() error {
		for i, p := range m.programs(m.store.dense, s) {
			var err error
			if i < len(s.models) {
				err = m.fetch(ctx, s.models[i], p.plan.Name)
			} else {
				err = m.add(ctx, m.store, p)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	s.loaded = err == nil
	return err
}
