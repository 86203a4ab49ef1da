package ops

import (
	"fmt"
	"slices"

	"github.com/anekit/anekit/internal/element"
)

// slicing takes a box out of a tensor, replaces one, or adds a border. Attrs is a Slice for the slices, a Pad for pad.
var slicing = []*Def{
	{Name: "slice_by_index", limits: sliceLimits, infer: inferSliceIndex,
		Params: append([]*Param{tensor("x", storable...)}, maskedParams...)},
	{Name: "slice_by_size", limits: sliceLimits, Params: []*Param{tensor("x", storable...), tensor("begin").any(),
		integers("size").sized()}, infer: inferSliceSize},
	{Name: "slice_update", Since: 18, Family: Indexing, limits: updateLimits, infer: inferSliceUpdate,
		support: support{memory: refused, e5: refused, instead: gathered},
		Params:  append([]*Param{tensor("x", storable...), tensor("update")}, maskedParams...)},
	{Name: "pad", Family: Movements, limits: padLimits, Params: []*Param{tensor("x", storable...), integers("pad"),
		word("mode", PadConstant, PadReflect, PadReplicate).or(PadConstant).spelled(),
		setting("constant_val", Element).or(0.0).spelled()}, infer: inferPad},
}

// maskedParams are the parameters of a slice with masks.
var maskedParams = []*Param{tensor("begin").any(), tensor("end").any(), integers("stride").or(1).spelled(),
	booleans("begin_mask").or(false).spelled(), booleans("end_mask").or(false).spelled(),
	booleans("squeeze_mask").or(false).spelled()}

// Slice selects elements: on axis i those at Begin + k*Stride for k below Size.
type Slice struct {
	Begin, Stride, Size []int
	// Moving slices begin where an operand tells: Begin is then 0 where the operand counts, and the first
	// element itself where a mask ignores the operand. Fixed marks the latter.
	Moving bool
	Fixed  []bool
}

// masked is a slice with masks, as arguments of slice_by_index and slice_update give it. Fixed is set in all of them.
type masked struct {
	Slice
	begin, end  []int // nil where one of them is computed
	toEnd, drop []bool
}

// masked reads the arguments of a slice of x. Begin is that of a slice whose begin is computed, Size is zero.
func (c *Call) masked(x *Value) (m masked) {
	n := x.Rank()
	m.Moving = !c.Value("begin").Const() || !c.Value("end").Const()
	if m.Moving {
		c.beginning(x)
	} else {
		m.begin, m.end = c.ints("begin", n), c.ints("end", n)
	}
	m.Begin, m.Stride, m.Size = make([]int, n), c.ints("stride", n), make([]int, n)
	m.Fixed, m.toEnd, m.drop = c.booleans("begin_mask", n), c.booleans("end_mask", n), c.booleans("squeeze_mask", n)
	for i, s := range m.Stride {
		c.refuseIf(s == 0 || s < -MaxElements || s > MaxElements, "stride", "strides are not 0 and below 2^31",
			"%d on axis %d", s, i)
		if m.Fixed[i] && s < 0 {
			m.Begin[i] = x.Shape[i] - 1
		}
	}
	return m
}

// beginning checks begin if it is computed.
func (c *Call) beginning(x *Value) {
	b := c.Value("begin")
	c.needs("begin", indexes...)
	c.refuseIf(!slices.Equal(b.Shape, []int{x.Rank()}), "begin", fmt.Sprintf("give a vector of %d", x.Rank()),
		"%s does not fit", b.Type())
}

// fixed completes a slice whose begin and end are constant. It returns the shape of the elements.
func (c *Call) fixed(x *Value, m masked) (shape []int) {
	for i, length := range x.Shape {
		s := m.Stride[i]
		// The bounds of a backward walk are one lower: it starts at the last element and ends before the first.
		lo, hi, last, sign := 0, length, length, 1
		if s < 0 {
			lo, hi, last, sign = -1, length-1, -1, -1
		}
		to := bound(m.end[i], length, lo, hi)
		if m.toEnd[i] {
			to = last
		}
		if !m.Fixed[i] {
			m.Begin[i] = bound(m.begin[i], length, lo, hi)
		}
		m.Size[i] = (to - m.Begin[i] + s - sign) / s
		if m.drop[i] {
			c.refuseIf(!m.Fixed[i] && (m.begin[i] < -length || m.begin[i] >= length), "begin",
				"begin within the axis", "index %d on axis %d of x%v", m.begin[i], i, x.Shape)
			m.Size[i] = 1
		}
		c.refuseIf(m.Size[i] < 1, "end", "every axis keeps at least one element",
			"the slice of axis %d of x%v is empty", i, x.Shape)
	}
	return m.shape()
}

// shape returns the sizes without those of squeeze_mask.
func (m masked) shape() []int {
	shape := []int{}
	for i, n := range m.Size {
		if !m.drop[i] {
			shape = append(shape, n)
		}
	}
	return shape
}

func inferSliceIndex(c *Call, x *Value) {
	m := c.masked(x)
	if !m.Moving {
		c.gives(m.Slice, x.DType, c.fixed(x, m))
		return
	}
	for i, length := range x.Shape {
		switch s := m.Stride[i]; {
		case m.drop[i]:
			m.Size[i] = 1
		case m.Fixed[i] && m.toEnd[i]:
			m.Size[i] = (length-1)/max(s, -s) + 1
		default:
			c.refuse("begin", "give constants, masks for whole axes, squeeze_mask for single elements, or use "+
				"slice_by_size", "the size of axis %d depends on values; engines need static shapes", i)
		}
	}
	c.gives(m.Slice, x.DType, m.shape())
}

func inferSliceUpdate(c *Call, x *Value) {
	update := c.Value("update")
	m := c.masked(x)
	if !m.Moving {
		shape := c.fixed(x, m)
		c.refuseIf(!slices.Equal(shape, update.Shape), "update", "give it the shape of the slice",
			"shape %v where the slice has %v", update.Shape, shape)
		c.gives(m.Slice, x.DType, x.Shape)
		return
	}
	rest := update.Shape
	for i, length := range x.Shape {
		size, whole := 1, (length-1)/max(m.Stride[i], -m.Stride[i])+1
		if !m.drop[i] && len(rest) > 0 {
			size, rest = rest[0], rest[1:]
		}
		c.refuseIf(size > whole || m.Fixed[i] && m.toEnd[i] && !m.drop[i] && size != whole, "update",
			"give it the shape of the slice", "%d elements of shape %v on axis %d of x%v", size, update.Shape, i,
			x.Shape)
		m.Size[i] = size
	}
	c.refuseIf(len(rest) > 0 || Volume(m.Size) != update.Elements(), "update",
		"give it the axes of x without those of squeeze_mask", "shape %v for x%v", update.Shape, x.Shape)
	c.gives(m.Slice, x.DType, x.Shape)
}

// bound counts a negative index from the end and clamps the result to [lo, hi].
func bound(i, length, lo, hi int) int {
	if i < 0 {
		i += length
	}
	return min(max(i, lo), hi)
}

func inferSliceSize(c *Call, x *Value) {
	n := x.Rank()
	a := Slice{Begin: make([]int, n), Stride: slices.Repeat([]int{1}, n), Size: c.ints("size", n),
		Moving: !c.Value("begin").Const(), Fixed: make([]bool, n)}
	if a.Moving {
		c.beginning(x)
	} else {
		copy(a.Begin, c.ints("begin", n))
	}
	for i, length := range x.Shape {
		if a.Begin[i] < 0 {
			a.Begin[i] += length
		}
		c.refuseIf(a.Begin[i] < 0 || a.Begin[i] >= length, "begin", "begin within the axis", "%d on axis %d of x%v",
			a.Begin[i], i, x.Shape)
		rest := length - a.Begin[i]
		if a.Size[i] == -1 && !a.Moving {
			a.Size[i] = rest
		}
		wrong := a.Size[i] < 1 || a.Size[i] > rest
		c.refuseIf(wrong && a.Moving, "size", "give the size in numbers; -1 depends on begin", "%d on axis %d of x%v",
			a.Size[i], i, x.Shape)
		c.refuseIf(wrong, "size", "-1 takes the rest", "%d from %d on axis %d of x%v", a.Size[i], a.Begin[i], i, x.Shape)
	}
	c.gives(a, x.DType, a.Size)
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
	e := encode(x.DType, []float64{a.Value}, same)
	c.refuseIf(!x.DType.Float() && element.Load(x.DType, e) != a.Value, "constant_val", "give it in the type of x",
		"%v is not of type %s", a.Value, x.DType)
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
