package ops

import "slices"

// views keep the elements and change the shape. Attrs of transpose is a []int,
// the permutation; of the others nil, because dense elements do not move.
var views = []Def{
	{Name: "reshape", Params: []Param{tensor("x"), setting("shape")}, infer: inferReshape},
	{Name: "transpose", Params: []Param{tensor("x"), setting("perm")}, infer: inferTranspose},
	{Name: "expand_dims", Params: []Param{tensor("x"), setting("axes")}, infer: inferExpand},
	{Name: "squeeze", Params: []Param{tensor("x"), option("axes")}, infer: inferSqueeze},
}

func inferReshape(c *Call) {
	x := c.tensor("x")
	c.needs("x", storable...)
	shape := slices.Clone(c.ints("shape", -1, nil))
	if c.failed() {
		return
	}
	open, known := -1, 1
	for i, n := range shape {
		switch {
		case n == -1 && open < 0:
			open = i
		case n < 1 || n > MaxElements || known > MaxElements/n:
			c.fail("shape", "sizes are at least 1, one may be -1", "%s", few(c.ints("shape", -1, nil)))
			return
		default:
			known *= n
		}
	}
	if open >= 0 {
		shape[open] = x.Elements() / known
	}
	if len(shape) > MaxRank {
		c.fail("shape", "merge axes", "Cannot reshape a tensor of rank > %d", MaxRank)
		return
	}
	if Volume(shape) != x.Elements() {
		c.fail("shape", "make the number of elements equal", "%s does not have the %d elements of x%v",
			few(c.ints("shape", -1, nil)), x.Elements(), x.Shape)
	}
	c.gives(x.DType, shape)
}

func inferTranspose(c *Call) {
	x := c.tensor("x")
	c.needs("x", storable...)
	given := c.ints("perm", x.Rank(), nil)
	perm, shape, seen := []int{}, []int{}, make([]bool, x.Rank())
	for _, a := range given {
		a = c.wrap("perm", a, x.Rank())
		if c.failed() {
			return
		}
		if seen[a] {
			c.fail("perm", "name every axis once", "%v", given)
			return
		}
		seen[a] = true
		perm, shape = append(perm, a), append(shape, x.Shape[a])
	}
	c.attrs = perm
	c.gives(x.DType, shape)
}

func inferExpand(c *Call) {
	x := c.tensor("x")
	c.needs("x", storable...)
	rank := x.Rank() + len(c.ints("axes", -1, nil))
	if rank > MaxRank {
		c.fail("axes", "name fewer axes", "result of rank %d, at most %d", rank, MaxRank)
		return
	}
	axes := c.axes("axes", rank, nil)
	rest := x.Shape
	var shape []int
	for i := range rank {
		if slices.Contains(axes, i) || len(rest) == 0 {
			shape = append(shape, 1)
			continue
		}
		shape, rest = append(shape, rest[0]), rest[1:]
	}
	c.gives(x.DType, shape)
}

func inferSqueeze(c *Call) {
	x := c.tensor("x")
	c.needs("x", storable...)
	var ones []int
	for i, n := range x.Shape {
		if n == 1 {
			ones = append(ones, i)
		}
	}
	axes := c.axes("axes", x.Rank(), ones)
	if c.failed() {
		return
	}
	shape := []int{}
	for i, n := range x.Shape {
		if !slices.Contains(axes, i) {
			shape = append(shape, n)
		} else if n != 1 {
			c.fail("axes", "squeeze axes of length 1 alone", "axis %d of x%v is not of length 1", i, x.Shape)
		}
	}
	c.gives(x.DType, shape)
}
