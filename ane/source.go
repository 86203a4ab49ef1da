package ane

import (
	"bytes"
	"context"
	"io/fs"
	"slices"
	"strings"
	"unicode"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/internal/shapes"
	"github.com/anekit/anekit/unimem"
)

// Source is a program to compile: a Text or a Program, not both.
type Source struct {
	File     string  // name used in messages; may be empty
	Text     []byte  // MIL text
	Program  Program // a tree, in any dialect of MIL, which must not change while a Model of it is open
	Function string  // function to run; empty is main, or the first one without main. See Device.Compile.
	Weights  Weights // files that the program names; nil if Program has them or there are none
	// Shapes are the shapes of inputs of Function whose types leave axes open: tensor<fp16, [1, ?]>. Other such inputs
	// take the default of FlexibleShapeInformation, or else that of Program. Receipt.Notes has what they took.
	Shapes map[string][]int
	// Residency asks for wired or pageable memory. Apple's engine follows it; the receipt of another one notes that it
	// does not.
	Residency Residency
}

// Program is a program as a tree: a *mil.Program, or a *build.Program, which brings its
// Weights. Where a Program or Weights have the method Remarks() []string, Receipt.Notes has its
// result. Where a Program has the method Shapes() map[string][]int, that has the default shapes of inputs.
type Program interface {
	// Tree returns the tree, or nil.
	Tree() *mil.Program
}

// remarked adds the remarks of weights to notes, unless they are those of a Program.
func remarked(notes []string, weights Weights) []string {
	_, program := weights.(Program)
	if r, ok := weights.(interface{ Remarks() []string }); ok && !program {
		return append(notes, r.Remarks()...)
	}
	return notes
}

// remarks returns the remarks of Program, and then the notes of an engine that do not repeat one. The comparison
// ignores a note's place, which a tree does not have.
func (s Source) remarks(notes []string) []string {
	r, ok := s.Program.(interface{ Remarks() []string })
	if !ok || s.program() == nil {
		return notes
	}
	own := r.Remarks()
	all := slices.Clone(own)
	for _, n := range notes {
		_, text, placed := strings.Cut(n, ": ")
		if !placed {
			text = n
		}
		if !slices.ContainsFunc(own, func(r string) bool { return strings.HasSuffix(r, ": "+text) }) {
			all = append(all, n)
		}
	}
	return all
}

// Tree returns the program as a tree: Program, or Text parsed, with a length for each axis
// that it leaves open. It does not validate the tree. The error is a mil.ErrorList: malformed
// Text, or Shapes that the program does not have.
func (s Source) Tree() (*mil.Program, error) { return s.TreeContext(context.Background()) }

// TreeContext is Tree. It returns the error of ctx once that has ended.
func (s Source) TreeContext(ctx context.Context) (*mil.Program, error) {
	p := s.program()
	if p == nil {
		var err error
		if p, err = mil.ParseTreeContext(ctx, s.File, s.Text); err != nil {
			return p, err
		}
	}
	p, _, err := s.fix(p)
	return p, err
}

// MIL returns the program of Tree as text: Text unchanged if it leaves no axis open, or the tree printed. The error
// for one that does not validate is a mil.ErrorList.
func (s Source) MIL() ([]byte, error) {
	p := s.program()
	if p == nil {
		if s.closed() {
			return s.Text, nil
		}
		var err error
		if p, err = mil.ParseTree(s.File, s.Text); err != nil {
			return s.Text, nil // the compiler reports it
		}
	}
	fixed, _, err := s.fix(p)
	switch {
	case err != nil:
		return nil, err
	case fixed == p && s.Text != nil:
		return s.Text, nil
	}
	if err := mil.Validate(s.File, fixed); err != nil {
		return nil, err
	}
	return mil.Print(fixed), nil
}

// fix gives the open axes of a tree of the Source their lengths.
func (s Source) fix(p *mil.Program) (*mil.Program, []shapes.Taken, error) {
	var defaults map[string][]int
	if d, ok := s.Program.(interface{ Shapes() map[string][]int }); ok {
		defaults = d.Shapes()
	}
	return shapes.Fix(s.File, p, s.Function, s.Shapes, defaults)
}

// closed reports that Text leaves no axis open. It looks for letters and question marks between the brackets of tensor
// types, without reading the rest, and may be wrong about a text that has none.
func (s Source) closed() bool {
	if len(s.Shapes) > 0 {
		return false
	}
	for rest := s.Text; ; {
		_, after, found := bytes.Cut(rest, []byte("tensor"))
		if !found {
			return true
		}
		_, rest, _ = bytes.Cut(after, []byte("["))
		axes, _, _ := bytes.Cut(rest, []byte("]"))
		if bytes.ContainsFunc(axes, func(r rune) bool { return r == '?' || r == '_' || unicode.IsLetter(r) }) {
			return false
		}
	}
}

// program returns the tree of Program, or nil.
func (s Source) program() *mil.Program {
	if s.Program == nil {
		return nil
	}
	return s.Program.Tree()
}

// check refuses a Source with no program or two, takes the weights from a Program that
// brings them, and fixes open axes. notes say which shapes it took.
func (s Source) check(engine string) (checked Source, notes []string, err error) {
	fail := func(detail, hint string) (Source, []string, error) {
		return s, nil, &Error{Op: "compile", Engine: engine, Name: s.File, Err: ErrCompile, Detail: detail, Hint: hint}
	}
	switch tree := s.program() != nil; {
	case tree && s.Text != nil:
		return fail("the Source has a Program and a Text", "give one of them")
	case !tree && s.Text == nil:
		return fail("the Source has neither Program nor Text", "give one of them")
	}
	switch s.Residency {
	case DefaultResidency, Wired, Pageable:
	default:
		return fail("the Source has residency "+string(s.Residency), "give Wired, Pageable or DefaultResidency")
	}
	if w, ok := s.Program.(Weights); ok && s.Weights == nil {
		s.Weights = inPlace(w)
	}
	p := s.program()
	if p == nil && !s.closed() {
		p, _ = mil.ParseTree(s.File, s.Text) // the engine reports a fault
	}
	if p == nil {
		return s, nil, nil
	}
	fixed, taken, err := s.fix(p)
	if err != nil {
		return s, nil, &Error{Op: "compile", Engine: engine, Name: s.File, Err: Because(ErrCompile, err)}
	}
	if fixed != p {
		s.Program, s.Text = fixed, nil
	}
	s.Shapes = nil
	return s, shapes.Notes(taken), nil
}

// lent are the Weights of a Program that has tensors of files among them, such as a build.Program. They are Mapped: an
// engine reads the tensors where they are.
type lent struct {
	Weights
	constants map[string]lentConstant // by the path of the weight file that each has for itself
	blocks    []*unimem.Block         // of the tensors
}

// lentConstant is the constant of a tensor, at an offset of its file.
type lentConstant struct {
	tensor lentTensor
	typ    mil.Type
	offset uint64
}

// lentTensor is a tensor of a file, such as one of package unimem/safetensors.
type lentTensor interface {
	Bytes() []byte
	Aligned() bool
	Block() (*unimem.Block, int, error)
}

// inPlace returns w, or Mapped if w lends tensors.
func inPlace(w Weights) Weights {
	l, ok := w.(interface {
		Program
		Lent() map[string]any
	})
	if !ok {
		return w
	}
	tensors, own := l.Lent(), lent{Weights: w, constants: map[string]lentConstant{}}
	if len(tensors) == 0 {
		return w
	}
	for _, v := range l.Tree().Weights() {
		path, offset, err := v.Blob().Entry()
		t, ok := tensors[path].(lentTensor)
		if !ok || err != nil || !t.Aligned() {
			continue
		}
		block, _, err := t.Block()
		if err != nil {
			continue // the file is closed, which ReadFile tells
		}
		if !slices.Contains(own.blocks, block) {
			own.blocks = append(own.blocks, block)
		}
		own.constants[path] = lentConstant{t, v.Type, offset}
	}
	return own
}

// Constant implements Constants. It leaves a constant of another type or offset to ReadFile, whose reader refuses it.
func (l lent) Constant(path string, offset uint64, t mil.Type) ([]byte, error) {
	if c, ok := l.constants[path]; ok && c.offset == offset && c.typ.Same(t) {
		if b := c.tensor.Bytes(); b != nil {
			return b, nil
		}
	}
	return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
}

// Blocks implements Mapped.
func (l lent) Blocks() []*unimem.Block { return slices.Clone(l.blocks) }

// Hold implements Constants: the files of the tensors stay open.
func (l lent) Hold() (release func(), err error) { return unimem.RetainAll(l.blocks...) }

// Weights reads the files that BLOBFILE names in a program.
type Weights interface {
	// ReadFile returns the whole file for a path as the program writes it,
	// such as "@model_path/weights/weight.bin". The caller must not change it.
	// Compile copies weights into the Model: later changes of the file do not
	// change it.
	ReadFile(path string) ([]byte, error)
}

// Constants are Weights whose bytes a Model may use where they are, such as those of a mapped file. The software engine
// computes with them without a copy while the Model, and those made of it by WithWeights, are open. Engines that need
// the weights elsewhere call ReadFile.
type Constants interface {
	Weights
	// Constant returns the elements of a constant of type t that the program reads from path at offset. They have the
	// form of a weight file's payload: dense, row-major, little endian, integers below 8 bits without gaps from the low
	// bits up. The file need not be of the weight files' format, and offset means what the Constants take it for. An
	// error that matches fs.ErrNotExist leaves this constant to ReadFile. Nothing may change the bytes while they are
	// held.
	Constant(path string, offset uint64, t mil.Type) ([]byte, error)
	// Hold keeps what Constant returns valid until release is called, once. An engine calls it before the first
	// Constant of a compile, and release after the last use.
	Hold() (release func(), err error)
}

// Mapped are Constants in Blocks of mapped files. Compiling and evaluating return unimem.ErrChanged if a file has
// become shorter. With other Constants, reading bytes that exist no more ends the process.
type Mapped interface {
	Constants
	// Blocks lists the Blocks that the bytes of Constant lie in. Hold keeps them open.
	Blocks() []*unimem.Block
}

// Files are Weights in memory: the content of each file by the path that the program writes.
type Files = blob.Files
