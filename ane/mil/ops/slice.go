package ops

import (
	"slices"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/element"
)

// slicing takes a box out of a tensor, or adds a border. Attrs is a Slice for the
// slices, a Pad for pad.
var slicing = []Def{
	{Name: "slice_by_index", Params: []Param{tensor("x"), setting("begin"), setting("end"), option("stride"),
		option("begin_mask"), option("end_mask"), option("squeeze_mask")}, infer: inferSliceIndex},
	{Name: "slice_by_size", Params: []Param{tensor("x"), setting("begin"), setting("size")}, infer: inferSliceSize},
	{Name: "pad", Params: []Param{tensor("x"), setting("pad"), option("mode"), option("constant_val")},
		infer: inferPad},
}

// Slice selects elements: on axis i those at Begin + k*Stride for k below Size.
type Slice struct{ Begin, Stride, Size []int }

func inferSliceIndex(c *Call) {
	x := c.tensor("x")
	c.needs("x", storable...)
	n := x.Rank()
	begin, end := c.ints("begin", n, make([]int, n)), c.ints("end", n, make([]int, n))
	stride := c.ints("stride", n, slices.Repeat([]int{1}, n))
	fromStart, toEnd, drop := c.booleans("begin_mask", n), c.booleans("end_mask", n), c.booleans("squeeze_mask", n)
	if c.failed() {
		return
	}
	a := Slice{Begin: make([]int, n), Stride: make([]int, n), Size: make([]int, n)}
	shape := []int{}
	for i, length := range x.Shape {
		s := stride[i]
		if s == 0 || s < -MaxElements || s > MaxElements {
			c.fail("stride", "strides are not 0 and below 2^31", "%d on axis %d", s, i)
			return
		}
		// The bounds of a backward walk are one lower: it starts at the last
		// element and ends before the first.
		lo, hi := 0, length
		if s < 0 {
			lo, hi = -1, length-1
		}
		from, to := bound(begin[i], length, lo, hi), bound(end[i], length, lo, hi)
		if fromStart[i] {
			from = lo
			if s < 0 {
				from = hi
			}
		}
		if toEnd[i] {
			to = hi
			if s < 0 {
				to = lo
			}
		}
		size := (to - from + s - sign(s)) / s
		if drop[i] {
			if !fromStart[i] && (begin[i] < -length || begin[i] >= length) {
				c.fail("begin", "begin within the axis", "index %d on axis %d of x%v", begin[i], i, x.Shape)
				return
			}
			size = 1
		}
		if size < 1 {
			c.fail("end", "every axis keeps at least one element", "the slice of axis %d of x%v is empty", i, x.Shape)
			return
		}
		a.Begin[i], a.Stride[i], a.Size[i] = from, s, size
		if !drop[i] {
			shape = append(shape, size)
		}
	}
	c.attrs = a
	c.gives(x.DType, shape)
}

// bound counts a negative index from the end and clamps the result to [lo, hi].
func bound(i, length, lo, hi int) int {
	if i < 0 {
		i += length
	}
	return min(max(i, lo), hi)
}

func sign(n int) int {
	if n < 0 {
		return -1
	}
	return 1
}

func inferSliceSize(c *Call) {
	x := c.tensor("x")
	c.needs("x", storable...)
	n := x.Rank()
	begin, size := slices.Clone(c.ints("begin", n, make([]int, n))), slices.Clone(c.ints("size", n, make([]int, n)))
	if c.failed() {
		return
	}
	for i, length := range x.Shape {
		if begin[i] < 0 {
			begin[i] += length
		}
		if begin[i] < 0 || begin[i] >= length {
			c.fail("begin", "begin within the axis", "%d on axis %d of x%v", begin[i], i, x.Shape)
			return
		}
		if size[i] == -1 {
			size[i] = length - begin[i]
		}
		if size[i] < 1 || size[i] > length-begin[i] {
			c.fail("size", "-1 takes the rest", "%d from %d on axis %d of x%v", size[i], begin[i], i, x.Shape)
			return
		}
	}
	c.attrs = Slice{Begin: begin, Stride: slices.Repeat([]int{1}, n), Size: size}
	c.gives(x.DType, size)
}

// Pad modes, as the mode argument spells them.
const (
	PadConstant  = "constant"
	PadReflect   = "reflect"
	PadReplicate = "replicate"
)

// Pad holds the settings of pad: one number for each axis of x.
type Pad struct {
	Before, After []int
	Mode          string
	Value         float64
}

func inferPad(c *Call) {
	x := c.tensor("x")
	c.needs("x", storable...)
	n := x.Rank()
	pairs := c.ints("pad", -1, nil)
	a := Pad{Before: make([]int, n), After: make([]int, n),
		Mode: c.word("mode", PadConstant, PadConstant, PadReflect, PadReplicate), Value: c.scalar("constant_val", 0)}
	if c.failed() {
		return
	}
	if e := make([]byte, 8); !x.DType.Float() {
		if element.Store(x.DType, e, a.Value); element.Load(x.DType, e) != a.Value {
			c.fail("constant_val", "give it in the type of x", "%v is not of type %s", a.Value, x.DType)
			return
		}
	}
	if len(pairs)%2 != 0 || len(pairs) > 2*n {
		c.fail("pad", "give a pair for each of the last axes", "%d numbers for x%v", len(pairs), x.Shape)
		return
	}
	shape := slices.Clone(x.Shape)
	for i := range len(pairs) / 2 {
		axis := n - len(pairs)/2 + i
		before, after := pairs[2*i], pairs[2*i+1]
		limit := MaxElements
		if a.Mode == PadReflect {
			limit = x.Shape[axis] - 1 // the edge itself is not repeated
		}
		if min(before, after) < 0 || max(before, after) > limit {
			c.fail("pad", "counts are at least 0, and below the axis in mode reflect",
				"%d and %d around axis %d of x%v in mode %s", before, after, axis, x.Shape, a.Mode)
			return
		}
		if n-axis > 2 && before+after > 0 {
			c.notes = append(c.notes, "Channel padding is not supported on ANE (the compiler's own message); pad H "+
				"and W alone")
		}
		a.Before[axis], a.After[axis] = before, after
		shape[axis] += before + after
	}
	c.attrs = a
	c.gives(x.DType, shape)
}

// scalar returns a single number of any numeric type, or a truth value as 0 or 1.
func (c *Call) scalar(name string, def float64) float64 {
	switch v := c.tensor(name); {
	case v != nil && v.DType.Integer():
		return float64(c.integer(name, int(def)))
	case v != nil && v.DType == mil.Bool:
		return map[bool]float64{true: 1}[c.boolean(name, false)]
	}
	return c.number(name, def)
}
