package ops

import (
	"fmt"
	"slices"

	"github.com/anekit/anekit/ane/mil"
)

// views keep the elements and change the shape. Attrs of transpose is a []int,
// the permutation; of the others nil, because dense elements do not move.
var views = []*Def{
	{Name: "reshape", Params: []*Param{tensor("x", storable...), integers("shape").sized()}, infer: inferReshape},
	{Name: "transpose", Family: Movements, Cost: Moves, Params: []*Param{tensor("x", storable...), integers("perm")},
		Doc: "reorders the axes: axis i of the result is axis perm[i] of x", infer: inferTranspose},
	{Name: "expand_dims", Params: []*Param{tensor("x", storable...), integers("axes")},
		Doc: "inserts axes of length 1. axes are their indexes in the result", infer: inferExpand},
	{Name: "squeeze", Params: []*Param{tensor("x", storable...), integers("axes").optional()}, infer: inferSqueeze},
	{Name: "flatten2d", Params: []*Param{tensor("x", storable...), integer("axis").or(1)}, infer: inferFlatten,
		Doc: "merges the axes before axis and those from axis on: the result has two axes"},
	{Name: "reshape_like", Since: 17, Params: []*Param{tensor("x", storable...), tensor("ref_tensors").like().variadic(),
		integers("begins").variadic(), integers("ends").variadic(), booleans("end_masks").variadic()},
		infer: inferReshapeLike},
}

func inferReshape(c *Call, x *Value) {
	shape := c.ints("shape", -1)
	// A 0 takes the length of x, counted from the last axis; where x has no such axis it is 1.
	for i, n := range shape {
		if at := x.Rank() - len(shape) + i; n == 0 && at >= 0 {
			shape[i] = x.Shape[at]
		} else if n == 0 {
			shape[i] = 1
		}
	}
	open, known := -1, 1
	for i, n := range shape {
		switch {
		case n == -1 && open < 0:
			open = i
		case n < 1 || n > MaxElements || known > MaxElements/n:
			c.refuse("shape", "sizes are at least 1, one may be -1, 0 keeps the length of x", "%s",
				few(c.ints("shape", -1)))
		default:
			known *= n
		}
	}
	if open >= 0 {
		shape[open] = x.Elements() / known
	}
	c.refuseIf(len(shape) > c.maxRank(), "shape", "merge axes", "Cannot reshape a tensor of rank > %d", c.maxRank())
	c.refuseIf(Volume(shape) != x.Elements(), "shape", "make the number of elements equal",
		"%s does not have the %d elements of x%v", few(c.ints("shape", -1)), x.Elements(), x.Shape)
	c.gives(nil, x.DType, shape)
}

func inferTranspose(c *Call, x *Value) {
	given := c.ints("perm", x.Rank())
	perm, shape, seen := []int{}, []int{}, make([]bool, x.Rank())
	for _, a := range given {
		a = c.wrap("perm", a, x.Rank())
		c.refuseIf(seen[a], "perm", "name every axis once", "%v", given)
		seen[a] = true
		perm, shape = append(perm, a), append(shape, x.Shape[a])
	}
	c.gives(perm, x.DType, shape)
}

func inferFlatten(c *Call, x *Value) {
	axis, n := c.integer("axis"), x.Rank()
	c.refuseIf(axis < -n || axis > n, "axis", fmt.Sprintf("choose from %d to %d", -n, n),
		"axis %d of a tensor of rank %d", axis, n)
	if axis < 0 {
		axis += n
	}
	c.gives(nil, x.DType, []int{Volume(x.Shape[:axis]), Volume(x.Shape[axis:])})
}

func inferReshapeLike(c *Call, x *Value) {
	refs := c.List("ref_tensors")
	begins, ends := c.list("begins", len(refs), mil.DType.Integer), c.list("ends", len(refs), mil.DType.Integer)
	masks := c.list("end_masks", len(refs), isBool)
	shape := []int{}
	for i, r := range refs { // as Python's r.shape[begin:end]
		n := r.Rank()
		from, to := bound(begins[i], n, 0, n), bound(ends[i], n, 0, n)
		if masks[i] != 0 {
			to = n
		}
		if from < to {
			shape = append(shape, r.Shape[from:to]...)
		}
	}
	c.refuseIf(len(shape) <= c.maxRank() && (!sensible(shape) || Volume(shape) != x.Elements()), "ref_tensors",
		"make the number of elements equal", "%v does not have the %d elements of x%v", shape, x.Elements(), x.Shape)
	c.gives(nil, x.DType, shape)
}

func inferExpand(c *Call, x *Value) {
	rank := x.Rank() + len(c.ints("axes", -1))
	c.refuseIf(rank > c.maxRank(), "axes", "name fewer axes", "result of rank %d, at most %d", rank, c.maxRank())
	axes := c.axes("axes", rank)
	rest := x.Shape
	var shape []int
	for i := range rank {
		if slices.Contains(axes, i) || len(rest) == 0 {
			shape = append(shape, 1)
			continue
		}
		shape, rest = append(shape, rest[0]), rest[1:]
	}
	c.gives(nil, x.DType, shape)
}

func inferSqueeze(c *Call, x *Value) {
	axes := c.axes("axes", x.Rank())
	shape := []int{}
	for i, n := range x.Shape {
		switch dropped := slices.Contains(axes, i); {
		case dropped && n != 1:
			c.refuse("axes", "squeeze axes of length 1 alone", "axis %d of x%v is not of length 1", i, x.Shape)
		case !dropped && (n != 1 || c.Value("axes") != nil):
			shape = append(shape, n)
		}
	}
	c.gives(nil, x.DType, shape)
}
