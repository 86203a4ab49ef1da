package ane

import (
	"fmt"

	"github.com/anekit/anekit/ane/mil"
)

// BufferLayout returns the layout that a tensor_buffer type declares: NewLayout of its shape, with its strides. Of
// another type it is NewLayout. Strides
// are in elements in the text and in bytes in the Layout. The error is that of NewLayout, or ErrShape for strides that
// overlap, for a last axis with gaps, and for interleave factors other than 1, which no Layout expresses.
func BufferLayout(name string, t mil.Type) (Layout, error) {
	shape, fixed := t.Held().Shape()
	bad := func(hint, format string, args ...any) (Layout, error) {
		return Layout{}, &Error{Op: "layout", Name: name, Err: ErrShape, Detail: fmt.Sprintf(format, args...), Hint: hint}
	}
	if !fixed {
		return bad("write its lengths", "an axis of %v has no length", t)
	}
	l, err := NewLayout(name, t.DType, shape...)
	if err != nil || t.Buffer == nil {
		return l, err
	}
	for _, n := range t.Buffer.Interleave {
		if n != 1 {
			return bad("write interleave_factors of 1", "interleave_factors %v: elements of an axis lie side by side",
				t.Buffer.Interleave)
		}
	}
	strides := t.Buffer.Strides
	if strides == nil {
		return l, nil
	}
	if len(strides) != len(shape) {
		return bad("write one for each axis", "%d strides for %d axes", len(strides), len(shape))
	}
	for i, axis := range textAxes[len(shape)] {
		switch n := strides[i]; {
		case n < 0 || n > MaxBytes/t.DType.Size():
			return bad("strides are below 1 TiB", "stride %d of axis %d", n, i)
		case axis != axisW:
			*l.strideField(axis) = n * t.DType.Size()
		case n != 1 && shape[i] > 1:
			return bad("write 1, and the gaps in another axis", "stride %d of the last axis", n)
		}
	}
	return l, l.Check()
}
