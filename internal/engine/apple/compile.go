package apple

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/lint"
	"github.com/anekit/anekit/internal/ops"
	"github.com/anekit/anekit/objcbridge"
)

// Compile implements ane.Engine. It prints a program given as a tree, checks the text and reads the weights. Then the
// framework compiles and loads the program, and Compile reads the layouts.
func (e *Engine) Compile(ctx context.Context, src ane.Source) (ane.Executable, error) {
	x, err := e.compile(ctx, src, nil)
	if err != nil {
		return nil, err // not x, which would be a non-nil interface
	}
	return x, nil
}

// compile is Compile. watch, which may be nil, records the framework's facts about the program, even if its
// attributes are rejected.
func (e *Engine) compile(ctx context.Context, src ane.Source, watch *observation) (*executable, error) {
	p, err := src.Tree()
	if err == nil {
		err = mil.Validate(src.File, p)
	}
	if err != nil {
		return nil, e.atFault(src.File, err)
	}
	text := slices.Clone(src.Text)
	if src.Text == nil {
		if text, err = e.print(src.File, p); err != nil {
			return nil, err
		}
	}
	f, err := procedure(src, p)
	if err != nil {
		return nil, e.atFault(src.File, err)
	}
	weights, err := readWeights(src, p)
	if err != nil {
		return nil, e.atFault(src.File, err)
	}
	x := &executable{engine: e, src: src, function: f, watch: watch}
	if len(p.Funcs) > 1 {
		x.named = f.Name
	}
	x.abandoned.release = x.release
	if err := e.join(x, text, weights, len(p.Funcs)); err != nil {
		return nil, err
	}
	err = x.inTurn(ctx, "compile", func() error { return x.first(ctx) })
	if err == nil {
		return x, nil
	}
	if fault := x.Close(); fault != nil {
		return nil, errors.Join(e.explain(src, p, err), fault)
	}
	return nil, e.explain(src, p, err)
}

// procedure selects the function to run.
func procedure(src ane.Source, p *mil.Program) (*mil.Function, error) {
	if f := p.Select(src.Function); f != nil {
		return f, nil
	}
	var names []string
	for _, f := range p.Funcs {
		names = append(names, f.Name)
	}
	if names == nil {
		return nil, mil.ErrorList{{File: src.File, Pos: p.Pos, Msg: "the program has no function",
			Hint: "write at least func main<ios18>(...)"}}
	}
	return nil, mil.ErrorList{{File: src.File, Pos: p.Pos, Msg: fmt.Sprintf("no function called %q", src.Function),
		Hint: "choose one of " + strings.Join(names, ", ")}}
}

// atFault wraps err as a fault of the program.
func (e *Engine) atFault(file string, err error) error {
	return &ane.Error{Op: "compile", Engine: e.cfg.Name, Name: file, Err: ane.Because(ane.ErrCompile, err)}
}

// misnamedWeights returns b as a fault at the position of the weights that its message names.
func misnamedWeights(src ane.Source, p *mil.Program, b *objcbridge.Error) mil.ErrorList {
	fault := &mil.Error{File: src.File, Pos: p.Pos, Msg: b.Message, Hint: "correct the text or the weights", Err: b}
	for _, blob := range p.Blobs() {
		path, err := blob.Path.Strings()
		if err == nil && len(path) == 1 && strings.Contains(b.Message, `"`+path[0]+`"`) {
			fault.Pos = blob.Pos
		}
	}
	return mil.ErrorList{fault}
}

// explain adds to the framework's rejection its own short reason and the faults that analysing the program
// finds.
func (e *Engine) explain(src ane.Source, p *mil.Program, err error) error {
	var b *objcbridge.Error
	if errors.As(err, &b) && b.Stage == objcbridge.StageCreate && b.Reason == objcbridge.ReasonArgument {
		return e.atFault(src.File, misnamedWeights(src, p, b))
	}
	if !errors.Is(err, ane.ErrCompile) {
		return err
	}
	var out *ane.Error
	if !errors.As(err, &out) {
		return err
	}
	if known := e.undialectal(src, p, b); known != nil {
		return known
	}
	why := *out
	why.Name = src.File
	_, analysis := ops.Analyze(src.File, p, src.Function, src.Weights)
	var faults mil.ErrorList
	errors.As(analysis, &faults)
	refusal := &mil.Error{File: src.File, Pos: p.Pos, Msg: "the framework refuses the program: " + reason(b)}
	known := e.linted(src, p, faults)
	if faults == nil && known == nil {
		refusal.Hint = "leave out statements until it compiles, or look for messages of aned in the system log"
	}
	why.Err = ane.Because(out.Err, slices.Concat(faults, mil.ErrorList{refusal}, known))
	return &why
}

// maxLinted is the largest number of findings of lint that a refusal lists.
const maxLinted = 10

// linted returns what lint knows against the program on this chip: the errors, or the warnings if there are none.
// Findings at the places of faults, and those on the language alone, are left out.
func (e *Engine) linted(src ane.Source, p *mil.Program, faults mil.ErrorList) (known mil.ErrorList) {
	o := lint.Options{Compilers: []chip.Compiler{chip.InMemory}}
	if c, err := chip.Parse(e.info.Chip); err == nil {
		o.Chips = []chip.Chip{c}
	}
	if src.Weights != nil {
		o.Weights = src.Weights
	}
	findings := lint.Run(src.File, p, o)
	worst := lint.Worst(findings)
	for i := range findings {
		f := &findings[i]
		if f.Severity != worst || worst < lint.Warning || f.Rule.ID == "syntax" || f.Rule.ID == "types" ||
			slices.ContainsFunc(faults, func(e *mil.Error) bool { return e.Pos.Known() && e.Pos == f.Pos }) {
			continue
		}
		if len(known) == maxLinted {
			break
		}
		known.Add(&mil.Error{File: f.File, Pos: f.Pos, Hint: f.Fix,
			Msg: fmt.Sprintf("lint: %v: %s [%s]", f.Severity, f.Message, f.Rule.ID)})
	}
	return known
}

// directory matches the directory of the program in messages of the compiler: hundreds of digits.
const directory = `ANECCompile\([^)]+\)`

// reason returns the innermost reason that the framework reports.
func reason(b *objcbridge.Error) string {
	if n := len(b.Causes); n > 0 && b.Causes[n-1].Message != "" {
		return regexp.MustCompile(directory).ReplaceAllString(b.Causes[n-1].Message, "ANECCompile(..)")
	}
	if b.Message != "" {
		return b.Message
	}
	return "it gives no reason"
}

// readWeights reads every file that the program names once.
func readWeights(src ane.Source, p *mil.Program) ([]objcbridge.Weight, error) {
	var all []objcbridge.Weight
	var faults mil.ErrorList
	seen := map[string]bool{}
	for _, b := range p.Blobs() {
		path, err := b.Path.Strings()
		if err != nil || len(path) != 1 || seen[path[0]] {
			continue // the framework rejects an invalid path
		}
		seen[path[0]] = true
		if src.Weights == nil {
			faults.Add(&mil.Error{File: src.File, Pos: b.Pos, Msg: "weights " + path[0] + ": the source has no weights",
				Hint: "set Source.Weights"})
			continue
		}
		data, err := src.Weights.ReadFile(path[0])
		if err != nil {
			faults.Add(&mil.Error{File: src.File, Pos: b.Pos, Msg: "weights " + path[0] + ": " + err.Error(),
				Hint: "check the path and the weights' directory", Err: err})
			continue
		}
		all = append(all, objcbridge.Weight{Path: path[0], Data: data})
	}
	return all, faults.Err()
}
