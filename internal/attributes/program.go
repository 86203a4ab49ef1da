package attributes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
)

// Suffix is what the framework appends to the names of outputs.
const Suffix = "@output"

// Program is a compiled program.
type Program struct {
	Procedures []Procedure
}

// Procedure is one function of the program.
type Procedure struct {
	Name   string // empty if the attributes have no name
	Number int    // its number in requests, 0 to 128
	// Inputs, including parameters and states, and Outputs, by ascending index.
	Inputs, Outputs []Tensor
	// Unplaced are symbols of the procedure without an entry.
	Unplaced []string
}

// Tensor is one input or output of a procedure.
type Tensor struct {
	Name   string // without Suffix
	Index  int    // index of its symbol among the inputs or outputs of the whole program
	Output bool
	List   string // "LiveInputList", "LiveInputParamList", "LiveStateList" or "LiveOutputList"
	Type   string // the framework's name of the element type: "Float16"
	// Layout has the strides of the attributes. Its shape is N, C, H, W, or N, D, C, H, W if
	// the depth is not 1; a program's text may have another shape, see Place.
	Layout ane.Layout
}

// Place returns the layout of the declared shape of v with the tensor's strides. The error
// matches ane.ErrMismatch if type or axes differ from the text.
func (t Tensor) Place(v mil.Var) (ane.Layout, error) {
	shape, static := v.Type.Shape()
	l := t.Layout
	if !static || v.Type.DType != l.DType {
		return ane.Layout{}, differs(v.Name, v.Type.String(), t.Type)
	}
	l.Name, l.Shape = v.Name, slices.Clone(shape)
	if !l.Fits() {
		return ane.Layout{}, differs(v.Name, fmt.Sprint(shape),
			fmt.Sprintf("N %d, D %d, C %d, H %d, W %d", l.Batches, l.Depth, l.Channels, l.Height, l.Width))
	}
	return l, nil
}

func differs(name, text, compiled string) error {
	return &ane.Error{Op: "compile", Name: name, Err: ane.ErrMismatch,
		Detail: fmt.Sprintf("the text has %s, the compiled program %s", text, compiled)}
}

// Find returns the procedure called name. An empty name means procedure 0. Every name
// matches the only procedure of a program if that has no name.
func (p *Program) Find(name string) (*Procedure, error) {
	var names []string
	for i := range p.Procedures {
		q := &p.Procedures[i]
		if name == "" && q.Number == 0 || name != "" && q.Name == name || q.Name == "" && len(p.Procedures) == 1 {
			return q, nil
		}
		names = append(names, cmp.Or(q.Name, fmt.Sprintf("number %d", q.Number)))
	}
	return nil, fault(keyDescription, "no procedure %q; the program has %s", name, strings.Join(names, ", "))
}

// types are the framework's names of element types. Float16 and Float32 are from dumps of
// real machines; the others are assumed to have the same form.
var types = map[string]mil.DType{
	"Float16": mil.FP16, "Float32": mil.FP32, "Bool": mil.Bool, "Int8": mil.Int8, "UInt8": mil.UInt8,
	"Int16": mil.Int16, "UInt16": mil.UInt16, "Int32": mil.Int32, "UInt32": mil.UInt32,
}
