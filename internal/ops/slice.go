package ops

import (
	"fmt"
	"slices"

	"github.com/anekit/anekit/internal/element"
)

// slicing takes a box out of a tensor, replaces one, or adds a border. Attrs is a Slice for the
// slices, a Pad for pad.
var slicing = []Def{
	{Name: "slice_by_index", limits: sliceLimits, infer: inferSliceIndex,
		Params: append([]Param{tensor("x", storable...)}, maskedParams...)},
	{Name: "slice_by_size", limits: sliceLimits, Params: []Param{tensor("x", storable...), tensor("begin"),
		integers("size").sized()}, infer: inferSliceSize},
	{Name: "slice_update", Since: 18, Family: Indexing, support: nowhere(gathered), infer: inferSliceUpdate,
		Params: append([]Param{tensor("x", storable...), tensor("update")}, maskedParams...)},
	{Name: "pad", Family: Movements, limits: padLimits, Params: []Param{tensor("x", storable...), integers("pad"),
		word("mode", PadConstant, PadReflect, PadReplicate).or(PadConstant),
		setting("constant_val", Element).or(0.0)}, infer: inferPad},
}

// maskedParams are the parameters of a slice with masks.
var maskedParams = []Param{tensor("begin"), tensor("end"), integers("stride").or(1), booleans("begin_mask").or(false),
	booleans("end_mask").or(false), booleans("squeeze_mask").or(false)}

// Slice selects elements: on axis i those at Begin + k*Stride for k below Size.
type Slice struct {
	Begin, Stride, Size []int
	// Moving slices begin where an operand tells: Begin is then 0 where the operand counts, and the first
	// element itself where a mask ignores the operand. Fixed marks the latter.
	Moving bool
	Fixed  []bool
}

// masked is a slice with masks, as arguments of slice_by_index and slice_update give it.
type masked struct {
	begin, end, stride     []int
	fromStart, toEnd, drop []bool
}

// masked reads the arguments of a slice of x. moving tells that begin or end is computed: they are nil then.
func (c *Call) masked(x *Value) (m masked, moving bool) {
	n := x.Rank()
	moving = !c.tensor("begin").Const() || !c.tensor("end").Const()
	if moving {
		c.beginning(x)
	} else {
		m.begin, m.end = c.ints("begin", n), c.ints("end", n)
	}
	m.stride = c.ints("stride", n)
	m.fromStart, m.toEnd = c.booleans("begin_mask", n), c.booleans("end_mask", n)
	m.drop = c.booleans("squeeze_mask", n)
	for i, s := range m.stride {
		if s == 0 || s < -MaxElements || s > MaxElements {
			c.refuse("stride", "strides are not 0 and below 2^31", "%d on axis %d", s, i)
			break
		}
	}
	return m, moving
}

// beginning checks begin if it is computed.
func (c *Call) beginning(x *Value) {
	b := c.tensor("begin")
	c.needs("begin", indexes...)
	c.refuseIf(!slices.Equal(b.Shape, []int{x.Rank()}), "begin", fmt.Sprintf("give a vector of %d", x.Rank()),
		"%s does not fit", b.Type())
}

// fixed returns the slice and the shape of its result, or a fault.
func (c *Call) fixed(x *Value, m masked) (a Slice, shape []int) {
	n := x.Rank()
	a = Slice{Begin: make([]int, n), Stride: m.stride, Size: make([]int, n)}
	shape = []int{}
	for i, length := range x.Shape {
		s := m.stride[i]
		// The bounds of a backward walk are one lower: it starts at the last
		// element and ends before the first.
		lo, hi := 0, length
		if s < 0 {
			lo, hi = -1, length-1
		}
		from, to := bound(m.begin[i], length, lo, hi), bound(m.end[i], length, lo, hi)
		if m.fromStart[i] {
			from = first(length, s)
		}
		if m.toEnd[i] {
			to = hi
			if s < 0 {
				to = lo
			}
		}
		size := (to - from + s - sign(s)) / s
		if m.drop[i] {
			c.refuseIf(!m.fromStart[i] && (m.begin[i] < -length || m.begin[i] >= length), "begin",
				"begin within the axis", "index %d on axis %d of x%v", m.begin[i], i, x.Shape)
			size = 1
		}
		c.refuseIf(size < 1, "end", "every axis keeps at least one element", "the slice of axis %d of x%v is empty",
			i, x.Shape)
		a.Begin[i], a.Size[i] = from, size
		if !m.drop[i] {
			shape = append(shape, size)
		}
	}
	return a, shape
}

// first is the first element of a walk over a whole axis.
func first(length, stride int) int {
	if stride < 0 {
		return length - 1
	}
	return 0
}

func inferSliceIndex(c *Call, x *Value) {
	m, moving := c.masked(x)
	if !moving {
		a, shape := c.fixed(x, m)
		c.gives(a, x.DType, shape)
		return
	}
	a := Slice{Begin: make([]int, x.Rank()), Stride: m.stride, Size: make([]int, x.Rank()), Moving: true,
		Fixed: m.fromStart}
	shape := []int{}
	for i, length := range x.Shape {
		switch s := m.stride[i]; {
		case m.drop[i]:
			a.Size[i] = 1
		case m.fromStart[i] && m.toEnd[i]:
			a.Size[i] = (length-1)/max(s, -s) + 1
			shape = append(shape, a.Size[i])
		default:
			c.refuse("begin", "give constants, masks for whole axes, squeeze_mask for single elements, or use "+
				"slice_by_size",
				"the size of axis %d depends on values; engines need static shapes", i)
		}
		if m.fromStart[i] {
			a.Begin[i] = first(length, m.stride[i])
		}
	}
	c.gives(a, x.DType, shape)
}

func inferSliceUpdate(c *Call, x *Value) {
	update := c.tensor("update")
	c.sameType("x", "update")
	m, moving := c.masked(x)
	if !moving {
		a, shape := c.fixed(x, m)
		c.refuseIf(!slices.Equal(shape, update.Shape), "update", "give it the shape of the slice",
			"shape %v where the slice has %v", update.Shape, shape)
		c.gives(a, x.DType, x.Shape)
		return
	}
	a := Slice{Begin: make([]int, x.Rank()), Stride: m.stride, Moving: true, Fixed: m.fromStart}
	rest := update.Shape
	for i, length := range x.Shape {
		size, s := 1, max(m.stride[i], -m.stride[i])
		if !m.drop[i] && len(rest) > 0 {
			size, rest = rest[0], rest[1:]
		} else if !m.drop[i] {
			rest = nil
		}
		whole := (length-1)/s + 1
		c.refuseIf(size > whole || m.fromStart[i] && m.toEnd[i] && !m.drop[i] && size != whole, "update",
			"give it the shape of the slice", "%d elements of shape %v on axis %d of x%v", size, update.Shape, i,
			x.Shape)
		a.Size = append(a.Size, size)
		if m.fromStart[i] {
			a.Begin[i] = first(length, m.stride[i])
		}
	}
	c.refuseIf(len(rest) > 0 || Volume(a.Size) != update.Elements(), "update",
		"give it the axes of x without those of squeeze_mask", "shape %v for x%v", update.Shape, x.Shape)
	c.gives(a, x.DType, x.Shape)
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

func inferSliceSize(c *Call, x *Value) {
	n := x.Rank()
	size := slices.Clone(c.ints("size", n))
	if !c.tensor("begin").Const() {
		c.movingSize(x, size)
		return
	}
	begin := slices.Clone(c.ints("begin", n))
	for i, length := range x.Shape {
		if begin[i] < 0 {
			begin[i] += length
		}
		c.refuseIf(begin[i] < 0 || begin[i] >= length, "begin", "begin within the axis", "%d on axis %d of x%v",
			begin[i], i, x.Shape)
		if size[i] == -1 {
			size[i] = length - begin[i]
		}
		c.refuseIf(size[i] < 1 || size[i] > length-begin[i], "size", "-1 takes the rest",
			"%d from %d on axis %d of x%v", size[i], begin[i], i, x.Shape)
	}
	c.gives(Slice{Begin: begin, Stride: slices.Repeat([]int{1}, n), Size: size}, x.DType, size)
}

// movingSize is the rule of slice_by_size with a begin that is computed.
func (c *Call) movingSize(x *Value, size []int) {
	c.beginning(x)
	for i, length := range x.Shape {
		c.refuseIf(size[i] < 1 || size[i] > length, "size", "give the size in numbers; -1 depends on begin",
			"%d on axis %d of x%v", size[i], i, x.Shape)
	}
	n := x.Rank()
	c.gives(
		Slice{Begin: make([]int, n), Stride: slices.Repeat([]int{1}, n), Size: size, Moving: true, Fixed: make([]bool, n)},
		x.DType, size)
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

func inferPad(c *Call, x *Value) {
	n := x.Rank()
	pairs := c.ints("pad", -1)
	a := Pad{Before: make([]int, n), After: make([]int, n),
		Mode: c.word("mode"), Value: c.scalar("constant_val")}
	if e := make([]byte, 8); !x.DType.Float() {
		if element.Store(x.DType, e, a.Value); element.Load(x.DType, e) != a.Value {
			c.refuse("constant_val", "give it in the type of x", "%v is not of type %s", a.Value, x.DType)
		}
	}
	c.refuseIf(len(pairs)%2 != 0 || len(pairs) > 2*n, "pad", "give a pair for each of the last axes",
		"%d numbers for x%v", len(pairs), x.Shape)
	shape := slices.Clone(x.Shape)
	for i := range len(pairs) / 2 {
		axis := n - len(pairs)/2 + i
		before, after := pairs[2*i], pairs[2*i+1]
		limit := MaxElements
		if a.Mode == PadReflect {
			limit = x.Shape[axis] - 1 // the edge itself is not repeated
		}
		c.refuseIf(min(before, after) < 0 || max(before, after) > limit, "pad",
			"counts are at least 0, and below the axis in mode reflect", "%d and %d around axis %d of x%v in mode %s",
			before, after, axis, x.Shape, a.Mode)
		if n-axis > 2 && before+after > 0 {
			c.note("Channel padding is not supported on ANE (the compiler's own message); pad H and W alone")
		}
		a.Before[axis], a.After[axis] = before, after
		shape[axis] += before + after
	}
	c.gives(a, x.DType, shape)
}
