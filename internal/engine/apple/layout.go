package apple

import (
	"fmt"
	"slices"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/attributes"
)

// port is an input or output of the program: its layout, and its index in the
// framework.
type port struct {
	ane.Layout
	index int
}

// layouts returns the layouts of ports.
func layouts(ports []port) []ane.Layout {
	l := make([]ane.Layout, len(ports))
	for i := range ports {
		l[i] = ports[i].Layout
	}
	return l
}

// ports returns the tensor of the compiled program for each value, in the order of
// the text. Names, types and shapes are from the text, positions from the compiled
// program.
func ports(vars []mil.Var, tensors []attributes.Tensor) ([]port, error) {
	if len(tensors) != len(vars) {
		return nil, &ane.Error{Op: "compile", Err: ane.ErrMismatch,
			Detail: fmt.Sprintf("the text has %d tensors on one side, the compiled program %d", len(vars),
				len(tensors))}
	}
	found := make([]port, len(vars))
	for i, v := range vars {
		at := slices.IndexFunc(tensors, func(t attributes.Tensor) bool { return t.Name == v.Name })
		if at < 0 {
			return nil, &ane.Error{Op: "compile", Name: v.Name, Err: ane.ErrMismatch,
				Detail: "the compiled program has no tensor of that name"}
		}
		l, err := tensors[at].Place(v)
		if err != nil {
			return nil, err
		}
		found[i] = port{l, tensors[at].Index}
	}
	return found, nil
}
