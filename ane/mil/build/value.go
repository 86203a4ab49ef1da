package build

import (
	"slices"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/ops"
)

// Value is a tensor of a Func: an input, a weight, a constant or a result. The zero
// Value is none.
type Value struct{ n *node }

// node is what a Value stands for.
type node struct {
	f    *Func
	v    *ops.Value // nil where the call that makes it is at fault
	kind role
	name string     // that the caller chose; empty for a generated one
	base string     // what a generated name starts with
	lit  *mil.Value // of a constant
}

type role uint8

const (
	result role = iota
	input
	constant
)

// lost is the Value of a call that is at fault.
func (f *Func) lost() Value { return Value{&node{f: f}} }

// Type returns the inferred type; the zero Type when the call that makes the value
// is at fault.
func (v Value) Type() mil.Type {
	if v.n == nil || v.n.v == nil {
		return mil.Type{}
	}
	return v.n.v.Type()
}

// Shape returns the axis lengths, none when the call that makes the value is at
// fault.
func (v Value) Shape() []int {
	if v.n == nil || v.n.v == nil {
		return nil
	}
	return slices.Clone(v.n.v.Shape)
}

// Dim returns the length of an axis, negative ones counted from the end; 0 where
// there is none, and when the call that makes the value is at fault.
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
