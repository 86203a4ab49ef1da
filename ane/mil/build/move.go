package build

import (
	"slices"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/ops"
)

// Reshape gives x another shape. One axis may be -1: its length follows from the others.
func (f *Func) Reshape(x Value, shape ...int) Value {
	shape = slices.Clone(shape)
	if open := slices.Index(shape, -1); open >= 0 { // not every compiler computes its length
		total, others := ops.Volume(x.Shape()), -ops.Volume(shape)
		if others > 0 && total%others == 0 {
			shape[open] = total / others
		}
	}
	return f.plain("reshape", x, shape)
}

// Squeeze drops axes of length 1, or all axes of length 1 if axes is empty.
func (f *Func) Squeeze(x Value, axes ...int) Value {
	if len(axes) == 0 {
		for i, n := range x.Shape() {
			if n == 1 {
				axes = append(axes, i)
			}
		}
	}
	return f.plain("squeeze", x, axes)
}

// AxesOf are consecutive axis lengths of another tensor.
type AxesOf struct {
	Value      Value
	Begin, End int  // as in Go's Shape()[Begin:End]; negative numbers count from the end
	ToEnd      bool // End is ignored: all axes from Begin on
}

// ReshapeLike gives x the lengths of axes of other tensors, in their order.
func (f *Func) ReshapeLike(x Value, axes ...AxesOf) Value {
	f.own()
	constant := func(name string, m *mil.Value) Value { return Value{f, f.shared(name, "reshape_like: "+name, m)} }
	var refs, begins, ends, masks []Value
	for _, a := range axes {
		refs, begins = append(refs, a.Value), append(begins, constant("begins", mil.Int32Scalar(a.Begin)))
		ends = append(ends, constant("ends", mil.Int32Scalar(a.End)))
		masks = append(masks, constant("end_masks", mil.BoolScalar(a.ToEnd)))
	}
	return f.plain("reshape_like", x, refs, begins, ends, masks)
}

// Concat joins values along axis.
func (f *Func) Concat(axis int, values ...Value) Value { return f.plain("concat", values, axis, false) }

// ConcatInterleaved is Concat that takes one slice of each value in turn.
func (f *Func) ConcatInterleaved(axis int, values ...Value) Value {
	return f.plain("concat", values, axis, true)
}

// Stack joins values of one shape along a new axis; axis is its index in the result.
func (f *Func) Stack(axis int, values ...Value) Value { return f.plain("stack", values, axis) }

// maxParts is the largest number of Values that a faulty Split returns.
const maxParts = 1 << 16

// Split splits x along axis into n parts of one size.
func (f *Func) Split(x Value, axis, n int) []Value {
	return f.call("split", x, n, nil, axis).many(min(max(n, 1), maxParts))
}

// SplitSizes splits x along axis into parts of these sizes.
func (f *Func) SplitSizes(x Value, axis int, sizes ...int) []Value {
	return f.call("split", x, nil, sizes, axis).many(len(sizes))
}

// Reverse reverses the order of the elements along axes, or along all axes if the list is empty.
func (f *Func) Reverse(x Value, axes ...int) Value {
	return f.fold("reverse", x, axes, nil)
}

// Crop removes rows and columns: rows[0] above, rows[1] below, columns[0] left and columns[1] right.
func (f *Func) Crop(x Value, rows, columns [2]int) Value {
	return f.plain("crop", x, rows[:], columns[:])
}

// SpaceToBatch moves the positions of blocks of block[0] rows and block[1] columns to the batch. rows and columns
// count the zeros before and after x.
func (f *Func) SpaceToBatch(x Value, block, rows, columns [2]int) Value {
	return f.plain("space_to_batch", x, block[:], matrix(rows, columns))
}

// BatchToSpace is the inverse of SpaceToBatch. rows and columns count the elements to remove before and after.
func (f *Func) BatchToSpace(x Value, block, rows, columns [2]int) Value {
	return f.plain("batch_to_space", x, block[:], matrix(rows, columns))
}

func matrix(a, b [2]int) *mil.Value {
	return mil.Ints(mil.TensorOf(mil.Int32, 2, 2), []int{a[0], a[1], b[0], b[1]})
}
