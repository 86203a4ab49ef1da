package build

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/internal/ops"
	"github.com/anekit/anekit/internal/remark"
	"github.com/anekit/anekit/internal/wholefile"
)

// The element types of package mil that the hardware supports for inputs and outputs.
const (
	FP16 = mil.FP16
	FP32 = mil.FP32
	Bool = mil.Bool
)

// Builder makes one program and its weights. The zero Builder is ready to use, like
// one of New without options. One goroutine at a time may use a Builder.
type Builder struct {
	options []mil.Option
	apart   bool // each weight has its own file
	funcs   []*Func
	files   blob.Writers
	lent    map[string]any  // tensors of WeightOf that are not converted, by path
	blobs   map[string]bool // paths of all weight files, those of Blob included
	faults  mil.ErrorList
	notes   remark.Notes
}

// Option configures New.
type Option func(*Builder)

// OldDialect makes programs for compilers before program(1.3), like mil.OldDialect.
// A later Opset option can choose ios15 to ios17.
func OldDialect() Option { return func(b *Builder) { b.options = append(b.options, mil.OldDialect()) } }

// Opset sets the opset of the functions. The default is "ios18".
func Opset(name string) Option {
	return func(b *Builder) {
		if !mil.ValidName(name) {
			b.fault(&mil.Error{Msg: fmt.Sprintf("opset %q is not a name", name), Hint: "choose ios15 to ios18"})
			return
		}
		b.options = append(b.options, mil.Opset(name))
	}
}

// FilePerWeight puts each weight into its own file, named after the weight. By default
// one file has all weights. The compiler of M1 is reported to need this option.
func FilePerWeight() Option { return func(b *Builder) { b.apart = true } }

// New returns a Builder of an empty program.
func New(options ...Option) *Builder {
	b := &Builder{}
	for _, o := range options {
		if o != nil {
			o(b)
		}
	}
	return b
}

// Func adds a function. Functions become procedures in the order of these calls.
func (b *Builder) Func(name string) *Func {
	if b.files == nil {
		b.files, b.lent, b.blobs = blob.Writers{}, map[string]any{}, map[string]bool{}
	}
	f := &Func{b: b, name: name, place: caller(), names: map[string]label{}, counts: map[string]int{},
		constants: map[string]*ops.Value{}}
	if !mil.ValidName(name) {
		b.fault(&mil.Error{Msg: fmt.Sprintf("function %s is not a name", quote(name)), Hint: nameHint})
	}
	if i := slices.IndexFunc(b.funcs, func(other *Func) bool { return other.name == name }); i >= 0 {
		b.fault(&mil.Error{Msg: fmt.Sprintf("function %s is defined twice", quote(name)),
			Hint: "the first is at " + b.funcs[i].place.String() + "; rename one"})
	}
	b.funcs = append(b.funcs, f)
	return f
}

// Program returns the program built so far, or a mil.ErrorList of every fault. Later
// calls do not change the returned program.
func (b *Builder) Program() (*Program, error) {
	faults := slices.Clone(b.faults)
	if len(b.funcs) == 0 {
		faults.Add(caller().on(&mil.Error{Msg: "the program has no function", Hint: `add one with Func("main")`}))
	}
	for _, f := range b.funcs {
		if !f.ends {
			faults.Add(f.place.on(&mil.Error{Msg: "function " + quote(f.name) + " has no output",
				Hint: "name a result with Output"}))
		}
	}
	if err := faults.Merge(nil).Err(); err != nil {
		return nil, err
	}
	m := mil.NewBuilder(b.options...)
	for _, f := range b.funcs {
		fb := m.Func(f.name)
		for _, p := range f.params {
			fb.InputOf(p.Name, p.Type())
		}
		for _, write := range f.body {
			write(fb)
		}
		fb.Output(references(f.outs)...)
	}
	tree, err := m.Program()
	if err != nil {
		return nil, err
	}
	p := &Program{Program: tree, Weights: blob.Writers{}, Notes: slices.Clone(b.notes.List),
		lent: maps.Clone(b.lent)}
	for path, w := range b.files {
		p.Weights[path] = w.Clone()
	}
	return p, nil
}

// fault records a fault at the line that called into this package.
func (b *Builder) fault(e *mil.Error) {
	if len(b.faults) <= mil.MaxFaults { // Merge adds the fault "too many faults"
		b.faults.Add(caller().on(e))
	}
}

// note records a remark at the line that called into this package.
func (b *Builder) note(remark string) { b.notes.AddText(caller().on(&mil.Error{Msg: remark}).Error()) }

// noteOn records remarks on an operator of a function, each once with the number of operators.
func (b *Builder) noteOn(function, kind string, remarks []string) {
	for _, r := range remarks {
		b.notes.Add(function, kind, *caller().on(&mil.Error{Msg: strings.TrimPrefix(r, kind+": ")}))
	}
}

// Program is a built program: a tree, and the weight files that it names.
type Program struct {
	*mil.Program
	Weights blob.Writers
	// Notes are remarks that are not faults: what a real engine may refuse or compute
	// differently, and numbers out of the range of fp16. Each starts with file and line.
	Notes []string
	lent  map[string]any // tensors of WeightOf, by path
}

// Tree returns the tree, or nil for a nil Program.
func (p *Program) Tree() *mil.Program {
	if p == nil {
		return nil
	}
	return p.Program
}

// Remarks returns Notes, so that the Receipt of a Model of the program has them.
func (p *Program) Remarks() []string {
	if p == nil {
		return nil
	}
	return p.Notes
}

// ReadFile returns a weight file of the program by its path, so that an ane.Source needs no other Weights. Errors are
// those of blob.Writers.ReadFile.
func (p *Program) ReadFile(path string) ([]byte, error) { return p.Weights.ReadFile(path) }

// Text returns the program as MIL text.
func (p *Program) Text() []byte { return mil.Print(p.Program) }

// WriteDir writes the weights and then the text, model.mil, below dir, the directory of the model; blob.Dir(dir) reads
// the weights again. Streams of weights are copied through a small buffer. Errors are those of the system, and of
// blob.Writers.WriteDir.
func (p *Program) WriteDir(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	if err := p.Weights.WriteDir(dir); err != nil {
		return err
	}
	return wholefile.Replace(filepath.Join(dir, "model.mil"), func(dst io.Writer) error {
		_, err := dst.Write(p.Text())
		return err
	})
}

// references returns the names that values have now.
func references(values []*ops.Value) (refs []mil.Ref) {
	for _, v := range values {
		refs = append(refs, mil.Ref{Name: v.Name})
	}
	return refs
}
