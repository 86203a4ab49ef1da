package decoder

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/ane/mil/build"
	"github.com/anekit/anekit/ane/mil/lint"
	"github.com/anekit/anekit/ane/weights"
	"github.com/anekit/anekit/internal/errtext"
)

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
