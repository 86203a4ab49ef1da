package device

import (
	"fmt"
	"slices"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/objcbridge"
)

// port is an input or output of the program: its layout, and the number under
// which the framework knows it.
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

// ports finds the framework's symbol for each value, in the order of the text.
// Names, types and shapes come from the text, places from the compiled program.
func ports(vars []mil.Var, symbols []objcbridge.Symbol) ([]port, error) {
	if len(symbols) != len(vars) {
		return nil, differs("", fmt.Sprintf("%d tensors", len(vars)), fmt.Sprintf("%d", len(symbols)))
	}
	found := make([]port, len(vars))
	for i, v := range vars {
		at := slices.IndexFunc(symbols, func(s objcbridge.Symbol) bool { return s.Name == v.Name })
		if at < 0 {
			return nil, differs(v.Name, "this tensor", "none of that name")
		}
		p, err := place(v, symbols[at])
		if err != nil {
			return nil, err
		}
		found[i] = p
	}
	return found, nil
}

// elements names element types as the framework does.
var elements = map[string]mil.DType{
	"Float16": mil.FP16, "Float32": mil.FP32, "Bool": mil.Bool, "Int8": mil.Int8, "UInt8": mil.UInt8,
	"Int16": mil.Int16, "UInt16": mil.UInt16, "Int32": mil.Int32, "UInt32": mil.UInt32,
}

// place puts the declared shape of v on the strides of its symbol.
func place(v mil.Var, s objcbridge.Symbol) (port, error) {
	shape, _ := v.Type.Shape()
	l, err := ane.NewLayout(v.Name, v.Type.DType, shape...)
	if err != nil {
		return port{}, err
	}
	if s.Type != "" && elements[s.Type] != v.Type.DType {
		return port{}, differs(v.Name, v.Type.DType.String(), s.Type)
	}
	have := [5]int{s.Batches, s.Channels, s.Depth, s.Height, s.Width}
	if want := [5]int{l.Batches, l.Channels, l.Depth, l.Height, l.Width}; have != want {
		return port{}, differs(v.Name, fmt.Sprint(want), fmt.Sprint(have))
	}
	if s.Interleave > 1 {
		return port{}, differs(v.Name, "planes apart", fmt.Sprintf("%d interleaved", s.Interleave))
	}
	l.BatchStride, l.PlaneStride, l.RowStride = s.BatchStride, s.PlaneStride, s.RowStride
	l.DepthStride = s.DepthStride
	if l.DepthStride == 0 && l.Depth == 1 { // programs without a depth axis need not tell
		l.DepthStride = l.Height * l.RowStride
	}
	return port{l, s.Index}, nil
}

// differs is the error of a compiled program that is not what its text says.
func differs(name, text, compiled string) error {
	return &ane.Error{Op: "compile", Name: name, Err: ane.ErrMismatch,
		Detail: fmt.Sprintf("the text has %s, the compiled program %s", text, compiled)}
}
