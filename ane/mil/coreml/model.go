package coreml

import (
	"slices"
	"strconv"
	"strings"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
)

// Model is a model as its file describes it. Any number of goroutines may read one.
type Model struct {
	Name        string // of a part, else of the file or folder without its extension
	Kind        string // mlProgram, pipeline, nonMaximumSuppression .. as in Core ML's format
	Description Description
	Suppression *Suppression // of kind nonMaximumSuppression; nil if unknown, as in compiled models

	dir     string // what @model_path means
	tree    *mil.Program
	parts   []*Model
	remarks []string
	shapes  map[string][]int // of the option Shape
}

// Program is the kind of models that have a program.
const Program = "mlProgram"

// Option configures Open.
type Option func(*Model)

// Shape chooses the shape of a flexible input, in place of its default. A part of a pipeline takes it if it has the
// input. Open returns ErrShape for a shape that the model does not allow.
func Shape(input string, lengths ...int) Option {
	return func(m *Model) {
		if m.shapes == nil {
			m.shapes = map[string][]int{}
		}
		m.shapes[input] = slices.Clone(lengths)
	}
}

// Tree returns the program, of a pipeline the program of the first part that has one, or nil: see Err.
func (m *Model) Tree() *mil.Program {
	if p := m.first(); p != nil {
		return p.tree
	}
	return nil
}

// first returns the first part with a program, m itself if that has one.
func (m *Model) first() *Model {
	if m.tree != nil {
		return m
	}
	for _, p := range m.parts {
		if f := p.first(); f != nil {
			return f
		}
	}
	return nil
}

// Err returns why Tree returns nil, an *Error that matches ErrKind, or nil.
func (m *Model) Err() error {
	if m.first() != nil {
		return nil
	}
	return unprogrammed(m.Name, m.Kind)
}

// Dir returns the folder that @model_path means in the paths of the program's weight files.
func (m *Model) Dir() string {
	if p := m.first(); p != nil {
		return p.dir
	}
	return m.dir
}

// ReadFile returns a weight file of the program. Errors are those of blob.Dir.
func (m *Model) ReadFile(path string) ([]byte, error) { return blob.Dir(m.Dir()).ReadFile(path) }

// Shapes returns the shapes of flexible inputs that the program leaves to the description, for a program with one
// function: those of the option Shape, else the default ones.
func (m *Model) Shapes() map[string][]int {
	all := map[string][]int{}
	if p := m.first(); p != nil && len(p.tree.Funcs) == 1 && len(p.Description.Functions) == 1 {
		open := openAxes(p.tree.Funcs[0])
		for _, in := range p.Description.Functions[0].Inputs {
			if rank, ok := open[in.Name]; ok && rank == len(in.Shape) {
				all[in.Name] = slices.Clone(in.Shape)
			}
		}
	}
	return all
}

// Remarks returns what was left out, such as fields that this package does not know. ane.Receipt.Notes begins with it.
func (m *Model) Remarks() []string { return slices.Clone(m.remarks) }

// Parts returns the parts of a pipeline in their order, nil of every other model.
func (m *Model) Parts() []*Model { return slices.Clone(m.parts) }

// Part returns the part of a pipeline called name. model0, model1 and so on are the parts in their order, unless parts
// have those names. The error is an *Error that matches ErrPart.
func (m *Model) Part(name string) (*Model, error) {
	names := make([]string, len(m.parts))
	for i, p := range m.parts {
		if names[i] = p.Name; p.Name == name {
			return p, nil
		}
	}
	if digits, ok := strings.CutPrefix(name, "model"); ok {
		if i, err := strconv.Atoi(digits); err == nil && i >= 0 && i < len(names) {
			return m.parts[i], nil
		}
	}
	if len(names) == 0 {
		return nil, refused(m.Name, ErrPart, "leave the part out", "a model of kind %s has no parts", m.Kind)
	}
	return nil, refused(m.Name, ErrPart, "its parts are "+strings.Join(names, ", "), "no part is called %s",
		short(name))
}

// link sets where the inputs of each part come from.
func (m *Model) link() {
	from := map[string]string{}
	for _, p := range m.parts {
		for i := range p.Description.Functions {
			for j := range p.Description.Functions[i].Inputs {
				in := &p.Description.Functions[i].Inputs[j]
				in.From = from[in.Name]
			}
		}
		if f := p.Description.Function(""); f != nil {
			for _, out := range f.Outputs {
				from[out.Name] = p.Name
			}
		}
	}
}
