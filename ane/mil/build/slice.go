package build

import "github.com/anekit/anekit/internal/ops"

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
