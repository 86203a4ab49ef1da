package build

import (
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/ops"
)

// Reshape gives x another shape. One axis may be -1: its length follows from the others.
func (f *Func) Reshape(x Value, shape ...int) Value {
	return f.call("reshape", x, shape).shaped("shape") // not every compiler computes the length for -1
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
func (f *Func) Reverse(x Value, axes ...int) Value { return f.fold("reverse", x, axes, nil) }

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

// SliceBySize returns a box of x: size elements from begin on, along each axis. A size of -1 takes the rest.
func (f *Func) SliceBySize(x Value, begin, size []int) Value {
	return f.plain("slice_by_size", x, begin, size)
}

// BeginMask ignores begin where it is true: the slice starts with the axis.
type BeginMask []bool

// EndMask ignores end where it is true: the slice ends with the axis.
type EndMask []bool

// SqueezeMask drops an axis where it is true; the slice takes one element of that axis.
type SqueezeMask []bool

func (m BeginMask) set(c *call)   { list(c, "begin_mask", m) }
func (m EndMask) set(c *call)     { list(c, "end_mask", m) }
func (m SqueezeMask) set(c *call) { list(c, "squeeze_mask", m) }

// SliceByIndex returns a box of x: from begin up to, not including, end, along each
// axis. Negative numbers count from the end.
func (f *Func) SliceByIndex(x Value, begin, end []int, options ...Optional) Value {
	return f.plain("slice_by_index", x, begin, end, options)
}

// SliceUpdate returns x with a box of it replaced by update: the box that SliceByIndex takes.
func (f *Func) SliceUpdate(x, update Value, begin, end []int, options ...Optional) Value {
	return f.plain("slice_update", x, update, begin, end, options)
}

// SliceBySizeAt is SliceBySize with a begin that is computed: an int32 vector with an index for each axis. An index
// that leaves no room for the slice moves it inside.
func (f *Func) SliceBySizeAt(x, begin Value, size ...int) Value {
	return f.plain("slice_by_size", x, begin, size)
}

// SliceUpdateAt is SliceUpdate with a begin that is computed: an int32 vector with an index for each axis. The box has
// the shape of update; an index that leaves no room for it moves it inside.
func (f *Func) SliceUpdateAt(x, update, begin Value, options ...Optional) Value {
	return f.plain("slice_update", x, update, begin, begin, options)
}

// PadMode is the rule for the elements of the border.
type PadMode string

// The modes of Pad.
const (
	PadConstant  PadMode = ops.PadConstant  // PadValue: the default
	PadReflect   PadMode = ops.PadReflect   // x mirrored at its edge
	PadReplicate PadMode = ops.PadReplicate // the edge of x
)

// PadValue is the number in the border. The default is 0.
type PadValue float64

func (m PadMode) set(c *call)  { c.put("mode", string(m)) }
func (v PadValue) set(c *call) { c.put("constant_val", float64(v)) }

// Pad adds a border around x; widths has a pair for each of the last axes. Engines pad only the last two axes.
func (f *Func) Pad(x Value, widths []int, options ...Optional) Value {
	return f.plain("pad", x, widths, options)
}
