package build

import (
	"slices"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/ops"
)

// Value is a tensor of a Func: an input, a weight, a constant or a result. The zero
// Value is invalid.
type Value struct{ n *node }

// node is the tensor of a Value.
type node struct {
	f    *Func
	v    *ops.Value // nil if its call is faulty
	kind role
	name string     // name that the caller chose; empty for a generated one
	base string     // start of a generated name
	lit  *mil.Value // literal of a constant
}

type role uint8

const (
	result role = iota
	input
	constant
)

// lost returns the Value of a faulty call.
func (f *Func) lost() Value { return Value{&node{f: f}} }

// Type returns the inferred type; the zero Type if the call that made the value is
// faulty.
func (v Value) Type() mil.Type {
	if v.n == nil || v.n.v == nil {
		return mil.Type{}
	}
	return v.n.v.Type()
}

// Shape returns the axis lengths; nil if the call that made the value is faulty.
func (v Value) Shape() []int {
	if v.n == nil || v.n.v == nil {
		return nil
	}
	return slices.Clone(v.n.v.Shape)
}

// Dim returns the length of an axis; a negative axis counts from the end. It returns 0
// if there is no such axis, or if the call that made the value is faulty.
func (v Value) Dim(axis int) int {
	shape := v.Shape()
	if axis < 0 {
		axis += len(shape)
	}
	if axis < 0 || axis >= len(shape) {
		return 0
	}
	return shape[axis]
}

// rank is the number of axes.
func (v Value) rank() int {
	if v.n == nil || v.n.v == nil {
		return 0
	}
	return v.n.v.Rank()
}

// dtype is the element type.
func (v Value) dtype() mil.DType { return v.Type().DType }
