package cli

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/coreml"
	"github.com/anekit/anekit/internal/shapes"
	"github.com/anekit/anekit/internal/sniff"
)

// ModelFlags adds the flags that choose in the model of the operand: a part, and shapes of inputs.
func (a *App) ModelFlags(cmd *cobra.Command) {
	a.PartFlag(cmd)
	cmd.Flags().StringArrayVar(&a.shapes, "shape", nil, "shape of an input: `NAME=LENGTHS`, as in x=1,64,128")
}

// PartFlag adds the flag that chooses a part of a pipeline.
func (a *App) PartFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.Part, "part", "", "`NAME` of a part of a pipeline (default: the first)")
}

// Shapes returns the shapes of --shape, by the names of inputs; nil without the flag.
func (a *App) Shapes() (map[string][]int, error) {
	var all map[string][]int
	for _, s := range a.shapes {
		name, lengths, ok := strings.Cut(s, "=")
		if _, twice := all[name]; twice {
			return nil, Badf("--shape names %s twice; give one shape for each", name)
		}
		var shape []int
		for text := range strings.SplitSeq(strings.Trim(lengths, "[]"), ",") {
			n, err := strconv.Atoi(strings.TrimSpace(text))
			ok = ok && err == nil && n > 0
			shape = append(shape, n)
		}
		if !ok || name == "" {
			return nil, Badf("--shape %q; give NAME=LENGTHS, such as x=1,64,128", s)
		}
		if all == nil {
			all = map[string][]int{}
		}
		all[name] = shape
	}
	return all, nil
}

// ShapesOf returns the shapes of inputs for ane.Source: those of --shape, and those that the program leaves to the
// description of its model.
func (a *App) ShapesOf(p *Program) (map[string][]int, error) {
	given, err := a.Shapes()
	if err != nil || p.Model == nil {
		return given, err
	}
	all := p.Model.Shapes()
	maps.Copy(all, given)
	return all, nil
}

// maxText is the most bytes that a program may have. Published programs have some kilobytes.
const maxText = 256 << 20

// Program is a MIL program that the command reads, as text or in a model of Core ML.
type Program struct {
	Path string      // the operand, which may be Stdio
	Name string      // in messages
	Info fs.FileInfo // identifies the file of a MIL text; nil for a model
	Text []byte      // MIL text, of a model as its program prints
	Dir  string      // what @model_path means

	// Of a model of Core ML; nil for a MIL text.
	Model *coreml.Model // the part that Text is of, or the model itself
	Whole *coreml.Model // the pipeline that Model is a part of and that --part does not choose from; nil for none
}

// give ends messages about what is no program.
const give = "give a MIL text, .mlpackage, .mlmodelc or .mlmodel"

// ReadProgram reads the program at path: MIL text, or a model of Core ML in any of its forms. what names it in messages.
// Of a pipeline it takes the part that --part names, else the first with a program, which a note names.
func (a *App) ReadProgram(ctx context.Context, what, path string) (*Program, error) {
	if path == Stdio {
		return a.readText(ctx, what, path)
	}
	switch found := sniff.Path(path); found.Kind {
	case sniff.MIL, sniff.Text, sniff.Stream, sniff.Missing: // the parser or the system says what is wrong
		return a.readText(ctx, what, path)
	case sniff.Package, sniff.Compiled, sniff.Model, sniff.OldNet, sniff.Folder:
		return a.readModel(ctx, what, path)
	case sniff.Binary:
		return nil, Badf("%s: %s is %s; "+give, what, path, found.What)
	default:
		return nil, Badf("%s: %s is %s; %s", what, path, found.What, found.Next)
	}
}

// readText reads MIL text.
func (a *App) readText(ctx context.Context, what, path string) (*Program, error) {
	if a.Part != "" {
		return nil, Badf("--part %s: %s is no pipeline; leave --part out", a.Part, path)
	}
	p, err := a.text(ctx, what, path)
	if err != nil {
		return nil, err
	}
	p.Path = path
	start := p.Text[:min(len(p.Text), sniff.Enough)]
	switch found := sniff.Start(p.Name, start, int64(len(p.Text))); found.Kind {
	case sniff.MIL, sniff.Text, sniff.Empty:
		return p, nil
	default:
		return nil, Badf("%s: %s is %s; give it as a file, if it is a model", what, p.Name, found.What)
	}
}

// text reads a file of MIL text.
func (a *App) text(ctx context.Context, what, path string) (*Program, error) {
	f, err := a.OpenInput(ctx, what, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxText+1))
	if err != nil {
		return nil, Badf("%w; "+give, err)
	}
	if len(text) > maxText {
		return nil, Badf("%s is larger than %d MiB; put weights into a separate file", path, maxText>>20)
	}
	p := &Program{Path: path, Name: path, Info: f.info, Text: text, Dir: filepath.Dir(path)}
	if path == Stdio {
		p.Name = "<stdin>"
	}
	a.know(p)
	return p, nil
}

// know keeps the text of a program for messages.
func (a *App) know(p *Program) {
	if a.programs == nil {
		a.programs = map[string][]byte{}
	}
	a.programs[p.Name] = p.Text
}

// readModel reads a model of Core ML.
func (a *App) readModel(ctx context.Context, what, path string) (*Program, error) {
	a.recordFolder(what, path)
	m, err := coreml.Open(path)
	if _, text := err.(mil.ErrorList); text { //nolint:errorlint // an error of the model may wrap one
		// The command parses the text of a compiled model itself. That of a part is in a folder below.
		if p, err := a.compiled(ctx, what, path, path); err != nil || p.Text != nil {
			return p, err
		}
	}
	if err != nil {
		return nil, Bad(err)
	}
	part, whole, err := a.choose(m, path)
	if err != nil {
		return nil, err
	}
	a.Notes(part.Remarks())
	p, err := a.compiled(ctx, what, path, part.Dir())
	if err != nil || p.Text == nil {
		p, err = &Program{Path: path, Name: path, Dir: part.Dir()}, nil
		if part != m {
			p.Name += ":" + part.Name
		}
		p.Text = mil.Print(part.Tree())
		a.know(p)
	}
	p.Info, p.Model, p.Whole = nil, part, whole
	return p, err
}

// compiled returns the text in the folder of a compiled model, without one a Program without text.
func (a *App) compiled(ctx context.Context, what, path, dir string) (*Program, error) {
	file := filepath.Join(dir, "model.mil")
	if sniff.Path(file).Kind != sniff.MIL {
		return &Program{}, nil
	}
	p, err := a.text(ctx, what, file)
	if err == nil {
		p.Path, p.Info = path, nil
	}
	return p, err
}

// choose returns the part of a model that --part names, or the first one with a program. whole is the pipeline that a
// command may run instead of the part; nil for none.
func (a *App) choose(m *coreml.Model, path string) (part, whole *coreml.Model, err error) {
	part = m
	if a.Part != "" {
		if part, err = m.Part(a.Part); err != nil {
			return nil, nil, Bad(err)
		}
	}
	if part.Tree() == nil {
		return nil, nil, Bad(part.Err())
	}
	var parts []string
	for _, p := range part.Parts() {
		parts = append(parts, fmt.Sprintf("%s (%s)", p.Name, p.Kind))
	}
	if len(parts) == 0 {
		return part, nil, nil
	}
	whole = part
	for _, p := range whole.Parts() {
		if p.Tree() != nil {
			part = p
			break
		}
	}
	if !a.Pipelines {
		a.Notes([]string{fmt.Sprintf("%s is a pipeline of %s; part %s is taken, --part takes another one", path,
			strings.Join(parts, ", "), part.Name)})
	}
	return part, whole, nil
}

// PartOf returns the program of a part of the pipeline that p is of.
func (a *App) PartOf(p *Program, part *coreml.Model) *Program {
	if part == p.Model {
		return p
	}
	own := &Program{Path: p.Path, Name: p.Path + ":" + part.Name, Text: mil.Print(part.Tree()), Dir: part.Dir(), Model: part}
	a.know(own)
	return own
}

// maxRecorded bounds the files of a model that outputs are compared with.
const maxRecorded = 1000

// recordFolder records the files of a model, or the file that path leads to, as inputs.
func (a *App) recordFolder(what, path string) {
	n := 0
	_ = filepath.WalkDir(path, func(file string, e fs.DirEntry, err error) error { // what it cannot read is no input
		if err != nil || n == maxRecorded {
			return fs.SkipAll
		}
		if !e.IsDir() {
			n++
			a.RecordInput(what, file)
		}
		return nil
	})
}

// Parse parses and validates the program, and gives its open axes the lengths of --shape or of its default, which notes
// tell. function is the one that the command chose, empty for main or the first one. Where lengths cannot be given, the
// program is as it was read, beside the error.
func (a *App) Parse(p *Program, function string) (*mil.Program, error) {
	tree, err := mil.Parse(p.Name, p.Text)
	if err != nil {
		return nil, Bad(err)
	}
	given, err := a.Shapes()
	if err != nil {
		return nil, err
	}
	var defaults map[string][]int
	if p.Model != nil {
		defaults = p.Model.Shapes()
	}
	fixed, taken, err := shapes.Fix(p.Name, tree, function, given, defaults)
	if err != nil {
		return tree, Bad(err)
	}
	a.Notes(shapes.Notes(taken))
	return fixed, nil
}

// Writable refuses to replace a model of Core ML; flag is what would.
func (p *Program) Writable(flag string) error {
	if p.Info != nil {
		return nil
	}
	return Badf("%s replaces MIL text, but %s is a model of Core ML; print it with fmt into a .mil file first", flag, p.Path)
}

// Function returns the name of the function that runs where none is chosen: that of the description, if the program
// has it, else none.
func (p *Program) Function(chosen string) string {
	if chosen == "" && p.Model != nil && p.Model.Tree().Func(p.Model.Description.Default) != nil {
		return p.Model.Description.Default
	}
	return chosen
}
