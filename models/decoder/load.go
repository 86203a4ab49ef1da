package decoder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/kv"
	"github.com/anekit/anekit/ane/mil/build"
	"github.com/anekit/anekit/ane/mil/lint"
	"github.com/anekit/anekit/unimem/safetensors"
)

// group is layers that one program computes.
type group struct{ at, layers int }

// set is the programs of all layers for passes of columns tokens, or those of the logits.
type set struct {
	name    string
	columns int
	groups  []group // of layers; nil for the logits
	rows    int     // of the logits that one program computes
	models  []*ane.Model
}

// grouping is how the layers and the logits are cut into programs.
type grouping struct {
	groups []group
	rows   int // of the logits in one program
	parts  int
}

// engineStep is the columns of a step in the form Engine, of which it uses the first: rows of 64 bytes have no padding.
const engineStep = 32

// fewColumns is the length of a pass between a step and a chunk in the form Compact: for short texts, and for the end
// of a long one.
const fewColumns = 32

// programLayers bounds the layers of one program: the compile time grows faster than the length of a program.
const programLayers = 32

// lowest returns the lowest known limit of the chips that options mean.
func (o options) lowest(limit func(chip.Limits) chip.Fact[int64]) (low chip.Fact[int64]) {
	for _, c := range o.chips() {
		if l := limit(c.Spec().Limits); l.Known() && (!low.Known() || l.Value < low.Value) {
			low = l
		}
	}
	return low
}

func (o options) chips() []chip.Chip {
	if o.chip.Valid() {
		return []chip.Chip{o.chip}
	}
	return chip.All()
}

func wide(f chip.Fact[int]) chip.Fact[int64] {
	return chip.Fact[int64]{Value: int64(f.Value), Degree: f.Degree, Source: f.Source}
}

func (o options) weightLimit() chip.Fact[int64] {
	if o.weights > 0 {
		return chip.Fact[int64]{Value: o.weights, Degree: chip.Stated, Source: "a test"}
	}
	return o.lowest(func(l chip.Limits) chip.Fact[int64] { return l.WeightBytes })
}

// cut decides which layers and which rows of the logits a program has.
func (o options) cut(f *Folder) (grouping, error) {
	c := f.config
	if o.form == Compact {
		return grouping{groups: []group{{0, c.Layers}}, rows: c.Vocabulary, parts: 1}, nil
	}
	limit := o.weightLimit()
	layer, row := int64(0), 2*int64(c.Hidden)
	for name, w := range f.weights {
		if strings.HasPrefix(name, layerName(0, "")) {
			layer += w.halves()
		}
	}
	refuse := func(name string, used int64) error {
		return &Error{Op: "load", Name: name, Err: ErrLimits,
			Detail: fmt.Sprintf("%d bytes of weights as fp16, at most %s in a program", used, limit),
			Hint:   "use the form compact on a software engine"}
	}
	per := int64(programLayers)
	if limit.Known() {
		if per = min(per, limit.Value/layer); per == 0 {
			return grouping{}, refuse("a layer", layer)
		}
	}
	var g grouping
	for at := 0; at < c.Layers; at += int(per) {
		g.groups = append(g.groups, group{at, min(int(per), c.Layers-at)})
	}
	rows := int64(1 << 14)
	if channels := o.lowest(func(l chip.Limits) chip.Fact[int64] { return wide(l.Channels) }); channels.Known() {
		rows = min(rows, channels.Value)
	}
	if limit.Known() {
		if rows = min(rows, (limit.Value-row)/row/32*32); rows == 0 {
			return grouping{}, refuse("32 rows of the logits", 33*row)
		}
	}
	g.parts = (c.Vocabulary + int(rows) - 1) / int(rows)
	g.rows = (c.Vocabulary + 32*g.parts - 1) / (32 * g.parts) * 32
	return g, nil
}

// halves is the size of the weight as fp16.
func (w *weight) halves() int64 {
	n := 2 * int64(w.out) * int64(max(w.in, 1))
	if w.bias != nil {
		n += 2 * int64(w.out)
	}
	return n
}

// settle fills in the options that were not given, and refuses impossible ones.
func (o *options) settle(c Config) error {
	if o.form != Engine && o.form != Compact {
		return &Error{Op: "load", Err: ErrLimits, Detail: fmt.Sprintf("no form %d", int(o.form))}
	}
	if o.context == 0 {
		o.context = min(c.Positions, 4096)
	}
	if o.context < 1 || o.context > c.Positions {
		return &Error{Op: "load", Name: "Context", Err: ErrTooLong,
			Detail: fmt.Sprintf("%d tokens, where the model has %d positions", o.context, c.Positions)}
	}
	o.tokens = o.context
	o.context = (o.context + kv.Step - 1) / kv.Step * kv.Step
	const most = 1 << 31 // elements of a tensor
	if per := c.KVHeads * c.HeadDim; o.context > most/per {
		return &Error{Op: "load", Name: "Context", Err: ErrTooLong, Hint: "give fewer tokens",
			Detail: fmt.Sprintf("%d tokens, where the keys of a layer have room for %d", o.tokens, most/per)}
	}
	if o.chosen = o.chunk != 0; !o.chosen {
		o.chunk = map[Form]int{Engine: 64, Compact: 256}[o.form]
	}
	if o.chunk < 32 || o.chunk%32 != 0 || o.chunk > 4096 {
		return &Error{Op: "load", Name: "Chunk", Err: ErrLimits,
			Detail: fmt.Sprintf("%d is no multiple of 32 up to 4096", o.chunk)}
	}
	return nil
}

// Load builds the programs of a model, compiles and loads them on d. It reads the weights.
//
// Errors: ErrNaN (a weight is not finite; Name is its tensor), ErrLimits (the programs exceed the limits of a chip),
// ErrTooLong (Context is beyond the positions of the model), and those of ane.Device.Compile and ane.Model.Load.
func Load(ctx context.Context, d *ane.Device, f *Folder, opts ...Option) (*Model, error) {
	done, err := f.use()
	if err != nil {
		return nil, err
	}
	m := &Model{device: d, folder: f, config: f.config, done: done,
		wants: map[*ane.Model]map[string]request{}, programs: map[*ane.Model]int{}}
	for _, o := range opts {
		o(&m.o)
	}
	if err := m.load(ctx); err != nil {
		return nil, errors.Join(err, m.Close(context.WithoutCancel(ctx)))
	}
	return m, nil
}

func (m *Model) load(ctx context.Context) error {
	if err := m.o.settle(m.config); err != nil {
		return err
	}
	cut, err := m.o.cut(m.folder)
	if err != nil {
		return err
	}
	step := map[Form]int{Engine: engineStep, Compact: 1}[m.o.form]
	m.layersOf = []*set{{name: "step.layers", columns: step, groups: cut.groups}}
	if m.o.form == Compact && m.o.chunk > fewColumns {
		m.layersOf = append(m.layersOf, &set{name: "few.layers", columns: fewColumns, groups: cut.groups})
	}
	m.head = &set{name: "head", columns: step, rows: cut.rows}
	err = m.budget(cut)
	if err != nil && m.o.form == Engine && !m.o.chosen {
		m.o.chunk = step // programs of a step take chunks too, so that there are half as many
		err = m.budget(cut)
	}
	if err != nil {
		return err
	}
	if m.o.chunk > step {
		m.layersOf = append(m.layersOf, &set{name: "chunk.layers", columns: m.o.chunk, groups: cut.groups})
	}
	s := &store{folder: m.folder, memory: &m.memory, made: map[string]*elements{}, zeros: map[string]*elements{},
		dense: map[string]bool{}}
	if m.o.form == Compact {
		if err := s.prepare(ctx); err != nil {
			return err
		}
	}
	if w := m.folder.weights[embedding]; s.zeros[w.name] == nil {
		if err := w.check(); err != nil {
			return err
		}
	}
	dense := s.dense
	for _, set := range m.layersOf {
		for i := range set.groups {
			if err := m.layers(ctx, s, set, i, dense); err != nil {
				return err
			}
		}
	}
	for part := range cut.parts {
		if err := m.logits(ctx, s, part, dense); err != nil {
			return err
		}
	}
	m.plan.WeightsMapped, m.plan.WeightsConverted = s.mapped, s.converted
	if m.folder.file.Report().How == safetensors.Mapped {
		for _, w := range m.folder.weights { // what was converted or checked is not read again, or rarely
			for _, t := range w.tensors() {
				release(t)
			}
		}
	}
	return nil
}

// budget predicts what the model takes, and refuses what is over a limit.
func (m *Model) budget(cut grouping) error {
	m.plan = m.predict(cut)
	return m.plan.check()
}

// source is the weights of one program: its own files, and those that every instance has.
type source struct {
	files
	common ane.Weights // nil for an instance
	folder *Folder
}

// Hold implements ane.Constants: the Folder stays open.
func (s source) Hold() (release func(), err error) { return s.folder.use() }

// ReadFile implements ane.Weights.
func (s source) ReadFile(path string) ([]byte, error) {
	data, err := s.files.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && s.common != nil {
		return s.common.ReadFile(path)
	}
	return data, err
}

// gather gets the weights that a program wants, those of one layer instead of another: from and to are the numbers of
// the program's first layer.
func (s *store) gather(wants map[string]request, from, to int) (files, error) {
	out := files{}
	for path, r := range wants {
		var layer int
		var module string
		if n, _ := fmt.Sscanf(r.module, "model.layers.%d.", &layer); n == 1 {
			module = strings.TrimPrefix(r.module, layerName(layer, ""))
			r.module = layerName(layer-from+to, module)
		}
		e, err := s.get(r)
		if err != nil {
			return nil, err
		}
		out[path] = e
	}
	return out, nil
}

// signature is which modules of a group are packed, and how: programs of equal signatures are equal but for weights.
func (m *Model) signature(g group, dense map[string]bool) string {
	if m.o.form == Engine {
		return fmt.Sprint(g.layers)
	}
	var all []string
	for _, module := range m.config.modules() {
		w := m.folder.weights[module.name]
		for i := range g.layers {
			prefix := layerName(g.at+i, "")
			if short, ok := strings.CutPrefix(module.name, prefix); ok {
				all = append(all, fmt.Sprint(i, short, w.bits, w.group, dense[w.name]))
			}
		}
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// layers compiles the programs of group i of a set, or makes an instance of those of a group before it.
func (m *Model) layers(ctx context.Context, s *store, set *set, i int, dense map[string]bool) error {
	g := set.groups[i]
	for j, before := range set.groups[:i] {
		if m.signature(before, dense) != m.signature(g, dense) || m.wants[set.models[j]] == nil {
			continue
		}
		own, err := s.gather(m.wants[set.models[j]], before.at, g.at)
		if err != nil {
			return err
		}
		return m.instance(ctx, set, set.models[j], own, func() error { return m.compileLayers(ctx, s, set, i, dense) })
	}
	return m.compileLayers(ctx, s, set, i, dense)
}

func (m *Model) compileLayers(ctx context.Context, s *store, set *set, i int, dense map[string]bool) error {
	g := set.groups[i]
	want := shape{columns: set.columns, context: m.o.context, layers: g.layers}
	p, wants, err := m.folder.layers(m.o.form, want, g.at, dense)
	if err != nil {
		return &Error{Op: "load", Name: set.name, Err: ErrLimits, Cause: err}
	}
	own, err := s.gather(wants, g.at, g.at)
	if err != nil {
		return err
	}
	return m.compile(ctx, set, g.layers, p, wants, own)
}

// logits compiles the program of a part of the logits, or makes an instance of that of the first part.
func (m *Model) logits(ctx context.Context, s *store, part int, dense map[string]bool) error {
	from := part * m.head.rows
	compile := func() error {
		p, wants, err := m.folder.head(m.o.form, m.head.columns, from, from+m.head.rows, dense)
		if err != nil {
			return &Error{Op: "load", Name: m.head.name, Err: ErrLimits, Cause: err}
		}
		own, err := s.gather(wants, 0, 0)
		if err != nil {
			return err
		}
		return m.compile(ctx, m.head, 0, p, wants, own)
	}
	if part == 0 {
		return compile()
	}
	wants := map[string]request{}
	for path, r := range m.wants[m.head.models[0]] {
		if r.to > 0 {
			r.from, r.to = from, from+m.head.rows
		}
		wants[path] = r
	}
	own, err := s.gather(wants, 0, 0)
	if err != nil {
		return err
	}
	return m.instance(ctx, m.head, m.head.models[0], own, compile)
}

// compile compiles and loads a program.
func (m *Model) compile(
	ctx context.Context, set *set, layers int, p *build.Program, wants map[string]request, own files,
) error {
	if m.o.form == Engine {
		if err := m.lint(set.name, p); err != nil {
			return err
		}
	}
	model, err := m.device.Compile(ctx, ane.Source{File: set.name, Program: p,
		Weights: source{own, p.Weights, m.folder}})
	if err != nil {
		return &Error{Op: "load", Name: set.name, Cause: err}
	}
	m.wants[model] = wants
	m.plan.Compiles++
	entry := ProgramPlan{Name: set.name, Layers: layers}
	for _, e := range own {
		entry.WeightBytes += int64(len(e.data))
	}
	for _, f := range p.Funcs {
		entry.Operations += len(f.Body)
	}
	m.plan.Programs = append(m.plan.Programs, entry)
	m.programs[model] = len(m.plan.Programs) - 1
	return m.ready(ctx, set, model, len(m.plan.Programs)-1)
}

// lint refuses a program in which lint finds an error for a chip.
func (m *Model) lint(name string, p *build.Program) error {
	for _, f := range lint.Run(name, p.Program, lint.Options{Chips: m.o.chips(), Roads: []chip.Road{chip.InMemory}}) {
		if f.Severity == lint.Error {
			return &Error{Op: "load", Name: name, Err: ErrLimits, Detail: f.Message + " [" + f.Rule.ID + "]",
				Hint: f.Fix}
		}
	}
	return nil
}

// instance makes a model of a compiled program with other weights, or calls compile if the engine makes none.
func (m *Model) instance(ctx context.Context, set *set, of *ane.Model, own files, compile func() error) error {
	model, err := of.WithWeights(ctx, source{own, nil, m.folder})
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, ane.ErrDenied) {
		return compile()
	}
	if err != nil {
		return &Error{Op: "load", Name: set.name, Cause: err}
	}
	return m.ready(ctx, set, model, m.programs[of])
}

// ready loads a model, which the set then has.
func (m *Model) ready(ctx context.Context, set *set, model *ane.Model, program int) error {
	set.models = append(set.models, model)
	if err := model.Load(ctx); err != nil {
		return &Error{Op: "load", Name: set.name, Cause: err}
	}
	m.plan.Programs[program].Instances++
	m.plan.Loads++
	return nil
}
