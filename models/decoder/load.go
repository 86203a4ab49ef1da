package decoder

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/kv"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/ane/mil/build"
	"github.com/anekit/anekit/ane/mil/lint"
	"github.com/anekit/anekit/ane/weights"
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
	read, ahead := s.mapped(), int64(packedAhead)
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

// gather gets the weights that a program wants, one in each weight file. rest has its other files; nil for an instance.
func (s *store) gather(wants map[string]want, rest ane.Weights) (*weights.Files, error) {
	files := weights.New(s.folder.use, rest, s.folder.blocks...)
	for path, w := range wants {
		e, err := s.get(w.request)
		if err != nil {
			return nil, err
		}
		if err := files.Add(path, blob.First, w.typ, e.data); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// signature is what determines the program of a piece. Compact programs differ in which modules are packed, and how.
func (m *Model) signature(p piece, modules []module, dense map[string]bool) string {
	if m.o.form != Compact {
		return fmt.Sprint(p.stage, p.layers)
	}
	var all []string
	for i := range p.layers {
		prefix := layerName(p.at+i, "")
		for _, module := range modules {
			if short, ok := strings.CutPrefix(module.name, prefix); ok {
				w := m.folder.weights[module.name]
				all = append(all, fmt.Sprint(i, short, w.bits, w.group, dense[w.name]))
			}
		}
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// program is a program of the model before it is compiled.
type program struct {
	set       *set
	signature string // of an instance with other weights, the same
	plan      ProgramPlan
	layer     int // of one that has one layer, whole; else -1
	write     func() (*build.Program, map[string]want, error)
}

// early are the sets whose programs Load compiles, in the order in which they run. Of those of a step it leaves instances
// to the first step.
func (m *Model) early() (all []*set) {
	for i, s := range m.layersOf {
		if i == 0 || !s.late {
			all = append(all, s)
		}
	}
	return append(all, m.head)
}

// kinds returns how many of the first programs of a list have all signatures of a set.
func (s *set) kinds(programs []program) (n int) {
	seen := map[string]bool{}
	for i, p := range programs {
		if p.set == s && !seen[p.signature] {
			seen[p.signature], n = true, i+1
		}
	}
	return n
}

// foresee gets the weights of a program that is an instance later, and counts it.
func (m *Model) foresee(s *store, p program) error {
	wants := p.others()
	if wants == nil {
		var err error
		if _, wants, err = p.write(); err != nil {
			return tooLarge(p.plan.Name, err)
		}
	}
	if _, err := s.gather(wants, nil); err != nil {
		return err
	}
	p.set.counted++
	m.plan.count(p.set.compiled[p.signature])
	return nil
}

// programs lists the programs of some sets.
func (m *Model) programs(dense map[string]bool, sets ...*set) (all []program) {
	f, o := m.folder, m.o
	modules, signatures := m.config.modules(), make([]string, len(m.parts.pieces))
	for i, p := range m.parts.pieces {
		signatures[i] = m.signature(p, modules, dense)
	}
	for _, s := range sets {
		if s == m.head {
			for part := range m.parts.parts {
				all = append(all, program{s, "", ProgramPlan{Name: s.name}, -1,
					func() (*build.Program, map[string]want, error) {
						return f.head(o.form, s.columns, extentOf(part, m.parts.rows), dense)
					}})
			}
			continue
		}
		for i, p := range m.parts.pieces {
			plan, layer := ProgramPlan{Name: s.name + "." + string(p.stage)}, -1
			if p.stage == whole {
				plan.Layers = p.layers
			}
			if plan.Layers == 1 {
				layer = p.at
			}
			all = append(all, program{s, signatures[i], plan, layer, func() (*build.Program, map[string]want, error) {
				return f.layers(o.form, s.columns, s.shown, s.room, m.parts, p, dense)
			}})
		}
	}
	return all
}

// others returns what an instance wants in place of the weights of the first program of its signature, if each has one
// layer; else nil. To write the program again takes longer than all else of the instance.
func (p program) others() map[string]want {
	first := p.set.wants[p.signature]
	if first == nil || p.layer < 0 {
		return nil
	}
	own := make(map[string]want, len(first))
	for path, w := range first {
		_, module, _ := strings.Cut(strings.TrimPrefix(w.module, inLayers), ".")
		w.module = layerName(p.layer, module)
		own[path] = w
	}
	return own
}

// add adds a program to its set: an instance of that of the same signature, or one that is compiled.
func (m *Model) add(ctx context.Context, s *store, p program) error {
	name := p.plan.Name
	at, seen := p.set.compiled[p.signature]
	var written *build.Program
	var err error
	wants := p.others()
	if wants == nil {
		if written, wants, err = p.write(); err != nil {
			return tooLarge(name, err)
		}
	}
	if seen {
		own, err := s.gather(wants, nil)
		if err != nil {
			return err
		}
		model, err := m.compiled[at].WithWeights(ctx, own)
		if err == nil {
			return m.ready(ctx, p.set, model, at)
		}
		if !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, ane.ErrDenied) {
			return &Error{Base: errtext.Base{Op: "load", Cause: err}, Name: name}
		}
		if written == nil {
			if written, wants, err = p.write(); err != nil {
				return tooLarge(name, err)
			}
		}
	}
	own, err := s.gather(wants, written.Weights)
	if err != nil {
		return err
	}
	if err := m.lint(p.plan.Name, written); err != nil {
		return err
	}
	model, err := m.device.Compile(ctx, ane.Source{File: name, Program: written, Weights: own})
	if errors.Is(err, ane.ErrCompile) {
		return tooLarge(name, err)
	}
	if err != nil {
		return &Error{Base: errtext.Base{Op: "load", Cause: err}, Name: name}
	}
	m.compiled = append(m.compiled, model)
	return m.ready(ctx, p.set, model, m.enter(p, written, wants)) // else a later call compiles it again
}

// enter enters a program that is compiled into the plan, and returns its index.
func (m *Model) enter(p program, written *build.Program, wants map[string]want) (at int) {
	at = len(m.plan.Programs)
	if _, seen := p.set.compiled[p.signature]; !seen {
		p.set.compiled[p.signature], p.set.wants[p.signature] = at, wants
	}
	for _, w := range wants {
		n, _ := w.typ.Elements() // each has a fixed shape
		p.plan.WeightBytes += int64(n*w.typ.DType.Bits()+7) / 8
	}
	for _, f := range written.Funcs {
		p.plan.Operations += len(f.Body)
	}
	m.plan.Compiles++
	m.plan.Programs = append(m.plan.Programs, p.plan)
	return at
}

// tooLarge is the error of a program that cannot be written or compiled because of its size: its first fault.
func tooLarge(name string, err error) error {
	first, _, _ := strings.Cut(err.Error(), "\n")
	return &Error{Base: errtext.Base{Op: "load", Err: ErrLimits, Detail: first, Hint: "give a smaller Context"},
		Name: name}
}

// lint refuses a program in which lint finds an error for a chip. A plan that exceeds a limit has its own error.
func (m *Model) lint(name string, p *build.Program) error {
	if m.o.form == Compact || m.plan.check() != nil {
		return nil
	}
	o := lint.Options{Chips: m.o.chips(), Compilers: []chip.Compiler{chip.InMemory}}
	for _, f := range lint.Run(name, p.Program, o) {
		if f.Severity == lint.Error {
			return &Error{Base: errtext.Base{Op: "load", Err: ErrLimits, Detail: f.Message + " [" + f.Rule.ID + "]",
				Hint: f.Fix}, Name: name}
		}
	}
	return nil
}

// ready adds a model to a set, and loads it unless it shares a place.
func (m *Model) ready(ctx context.Context, set *set, model *ane.Model, program int) error {
	set.models = append(set.models, model)
	if set.counted > 0 {
		set.counted--
	} else if m.plan.count(program) {
		m.sharing[model] = true
	}
	return m.fetch(ctx, model, m.plan.Programs[program].Name)
}

// fetch loads a model unless it shares a place.
func (m *Model) fetch(ctx context.Context, model *ane.Model, name string) error {
	if m.sharing[model] {
		return nil
	}
	if err := model.Load(ctx); err != nil {
		return &Error{Base: errtext.Base{Op: "load", Cause: err}, Name: name}
	}
	return nil
}
