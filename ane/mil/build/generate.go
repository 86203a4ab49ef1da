package build

import (
	"fmt"
	"math"

	"github.com/anekit/anekit/ane/mil"
)

// ShapeOf returns the axis lengths of x, an int32 vector. The compiler knows it: it may stand where a setting is
// needed.
func (f *Func) ShapeOf(x Value) Value { return f.call("shape").value("x", x).one() }

// Fill returns a tensor of type d with x in every element.
func (f *Func) Fill(d mil.DType, x float64, shape ...int) Value {
	return f.call("fill").ints("shape", shape).element("value", d, x).one()
}

// FillLike returns a tensor of type d and the shape of ref with x in every element.
func (f *Func) FillLike(d mil.DType, x float64, ref Value) Value {
	return f.call("fill_like").value("ref_tensor", ref).element("value", d, x).one()
}

// Range1d counts from start up to, not including, end. d is fp16, fp32 or int32.
func (f *Func) Range1d(d mil.DType, start, end, step float64) Value {
	return f.call("range_1d").element("start", d, start).element("end", d, end).element("step", d, step).one()
}

// element adds a single number of type d; for bool, 0 or 1.
func (c *call) element(name string, d mil.DType, x float64) *call {
	said := fmt.Sprintf("%x", x)
	switch {
	case d == mil.FP32:
		return c.setting(name, said, mil.FP32Scalar(x))
	case d == mil.Bool && (x == 0 || x == 1):
		return c.bool(name, x == 1)
	case d.Integer() && x == math.Trunc(x) && math.Abs(x) <= math.MaxUint32:
		return c.setting(name, said, mil.IntScalar(d, int(x)))
	case d == mil.FP16:
		return c.setting(name, said, mil.FP16Scalar(x))
	}
	if !c.lost {
		c.f.fault(fmt.Sprintf("%s: %s: %v is not of type %v", c.kind, name, x, d), "give a number of the type")
	}
	c.lost = true
	return c
}

// BandPart keeps lower diagonals below the main one and upper above it, of each matrix, and clears the others. A
// negative number keeps all.
func (f *Func) BandPart(x Value, lower, upper int) Value {
	return f.call("band_part").value("x", x).int("lower", lower).int("upper", upper).one()
}

// OneHot adds an axis of size elements of type d: on where the index is the position, off elsewhere. axis is its
// index in the result.
func (f *Func) OneHot(d mil.DType, indices Value, size, axis int, on, off float64) Value {
	return f.call("one_hot").value("indices", indices).int("one_hot_vector_size", size).int("axis", axis).
		element("on_value", d, on).element("off_value", d, off).one()
}

// ScanOption is Exclusive or Backward.
type ScanOption interface{ scan(*scan) }

// Exclusive leaves each element out of its own sum.
type Exclusive bool

// Backward adds from the end of the axis.
type Backward bool

func (e Exclusive) scan(s *scan) { s.exclusive = bool(e) }
func (b Backward) scan(s *scan)  { s.reverse = bool(b) }

type scan struct{ exclusive, reverse bool }

// Cumsum returns the sums of x up to each element along axis.
func (f *Func) Cumsum(x Value, axis int, options ...ScanOption) Value {
	var s scan
	for _, o := range given(options) {
		o.scan(&s)
	}
	return f.call("cumsum").value("x", x).int("axis", axis).bool("exclusive", s.exclusive).
		bool("reverse", s.reverse).one()
}

// NonZero returns the indices of the elements of a constant that are not zero, one in each row.
func (f *Func) NonZero(x Value) Value { return f.call("non_zero").value("x", x).one() }
