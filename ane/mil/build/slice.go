package build

import (
	"math"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/ops"
)

// maxElements is the largest number of elements of a shape, as in package ops.
const maxElements = ops.MaxElements

// SliceBySize returns a box of x: size elements from begin on, along each axis. A
// size of -1 takes the rest.
func (f *Func) SliceBySize(x Value, begin, size []int) Value {
	return f.call("slice_by_size").value("x", x).ints("begin", begin).ints("size", size).one()
}

// SliceOption is Strides, BeginMask, EndMask or SqueezeMask.
type SliceOption interface{ slice(*slice) }

// BeginMask ignores begin where it is true: the slice starts with the axis.
type BeginMask []bool

// EndMask ignores end where it is true: the slice ends with the axis.
type EndMask []bool

// SqueezeMask drops an axis where it is true; the slice takes one element of that axis.
type SqueezeMask []bool

func (s Strides) slice(o *slice)     { o.stride = s }
func (m BeginMask) slice(o *slice)   { o.begin = m }
func (m EndMask) slice(o *slice)     { o.end = m }
func (m SqueezeMask) slice(o *slice) { o.squeeze = m }

type slice struct {
	stride  Strides
	begin   BeginMask
	end     EndMask
	squeeze SqueezeMask
}

// SliceByIndex returns a box of x: from begin up to, not including, end, along each
// axis. Negative numbers count from the end.
func (f *Func) SliceByIndex(x Value, begin, end []int, options ...SliceOption) Value {
	return f.call("slice_by_index").value("x", x).ints("begin", begin).ints("end", end).masks(x, options).one()
}

// masks adds the options of a slice of x.
func (c *call) masks(x Value, options []SliceOption) *call {
	var s slice
	for _, o := range given(options) {
		o.slice(&s)
	}
	n := x.rank()
	return c.bools("begin_mask", or(s.begin, false, n)).bools("end_mask", or(s.end, false, n)).
		bools("squeeze_mask", or(s.squeeze, false, n)).ints("stride", or(s.stride, 1, n))
}

// SliceUpdate returns x with a box of it replaced by update: the box that SliceByIndex takes.
func (f *Func) SliceUpdate(x, update Value, begin, end []int, options ...SliceOption) Value {
	return f.call("slice_update").value("x", x).value("update", update).ints("begin", begin).ints("end", end).
		masks(x, options).one()
}

// SliceBySizeAt is SliceBySize with a begin that is computed: an int32 vector with an index for each axis. An index
// that leaves no room for the slice moves it inside.
func (f *Func) SliceBySizeAt(x, begin Value, size ...int) Value {
	return f.call("slice_by_size").value("x", x).value("begin", begin).ints("size", size).one()
}

// SliceUpdateAt is SliceUpdate with a begin that is computed: an int32 vector with an index for each axis. The box has
// the shape of update; an index that leaves no room for it moves it inside.
func (f *Func) SliceUpdateAt(x, update, begin Value, options ...SliceOption) Value {
	return f.call("slice_update").value("x", x).value("update", update).value("begin", begin).value("end", begin).
		masks(x, options).one()
}

// PadOption is a PadMode or PadValue.
type PadOption interface{ pad(*border) }

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

func (m PadMode) pad(b *border)  { b.mode = m }
func (v PadValue) pad(b *border) { b.value = float64(v) }

type border struct {
	mode  PadMode
	value float64
}

// Pad adds a border around x; widths has a pair for each of the last axes. Engines pad
// only the last two axes.
func (f *Func) Pad(x Value, widths []int, options ...PadOption) Value {
	b := border{mode: PadConstant}
	for _, o := range given(options) {
		o.pad(&b)
	}
	c := f.call("pad").value("x", x)
	switch d := x.dtype(); {
	case d == mil.Bool && (b.value == 0 || b.value == 1):
		c.bool("constant_val", b.value == 1)
	case d.Integer() && b.value == math.Trunc(b.value) && math.Abs(b.value) <= math.MaxUint32:
		c.setting("constant_val", b.value, mil.IntScalar(d, int(b.value)))
	default:
		c.number("constant_val", b.value, x)
	}
	return c.word("mode", string(b.mode)).ints("pad", widths).one()
}
