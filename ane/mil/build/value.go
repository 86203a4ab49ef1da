package build

import (
	"slices"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/ops"
)

// Value is a tensor of a Func: an input, a weight, a constant or a result. The zero Value is invalid.
type Value struct {
	f *Func
	v *ops.Value // nil if its call is faulty; Literal is that of a constant
}

// lost returns the Value of a faulty call.
func (f *Func) lost() Value { return Value{f: f} }

// tensor returns the tensor, one without type and axes if the call that made the value is faulty.
func (v Value) tensor() *ops.Value {
	if v.v == nil {
		return &ops.Value{}
	}
	return v.v
}

// Type returns the inferred type; the zero Type if the call that made the value is faulty.
func (v Value) Type() mil.Type { return v.tensor().Type() }

// Shape returns the axis lengths; nil if the call that made the value is faulty.
func (v Value) Shape() []int { return slices.Clone(v.tensor().Shape) }

// Dim returns the length of an axis; a negative axis counts from the end. It returns 0 if there is no such axis, or if
// the call that made the value is faulty.
func (v Value) Dim(axis int) int {
	shape := v.tensor().Shape
	if axis < 0 {
		axis += len(shape)
	}
	if axis < 0 || axis >= len(shape) {
		return 0
	}
	return shape[axis]
}
