package ops

import (
	"slices"

	"github.com/anekit/anekit/ane/mil"
)

// joins concatenate and split tensors along one axis. Attrs is a Join for concat, an
// int, the axis, for split.
var joins = []Def{
	{Name: "concat", Params: []Param{variadic("values"), setting("axis"), option("interleave")}, infer: inferConcat},
	{Name: "split", Many: true, Params: []Param{tensor("x"), option("num_splits"), option("split_sizes"),
		option("axis")}, infer: inferSplit},
}

// Join holds the settings of concat.
type Join struct {
	Axis       int
	Interleave bool // take one slice of each operand in turn
}

func inferConcat(c *Call) {
	values := c.args["values"].values
	first := values[0]
	c.needs("values", storable...)
	if c.op.Arg("interleave") == nil {
		c.notes = append(c.notes, "Apple's engine refuses concat without interleave; write interleave = bool(false)")
	}
	a := Join{Axis: c.axis("axis", first.Rank(), 0), Interleave: c.boolean("interleave", false)}
	if c.failed() {
		return
	}
	shape := slices.Clone(first.Shape)
	shape[a.Axis] = 0
	for _, v := range values {
		fits := v.Rank() == first.Rank() && v.DType == first.DType
		for i := range v.Shape {
			fits = fits && (i == a.Axis || v.Shape[i] == first.Shape[i])
		}
		if !fits || a.Interleave && v.Shape[a.Axis] != first.Shape[a.Axis] {
			c.fail("values", "only the joined axis may differ, without interleave", "%s %s does not fit %s", v.Name,
				v.Type(), first.Type())
			return
		}
		shape[a.Axis] += v.Shape[a.Axis]
	}
	c.attrs = a
	c.gives(first.DType, shape)
}

func inferSplit(c *Call) {
	x := c.tensor("x")
	c.needs("x", storable...)
	axis := c.axis("axis", x.Rank(), 0)
	sizes := c.ints("split_sizes", -1, nil)
	if c.failed() {
		return
	}
	length := x.Shape[axis]
	n := c.integer("num_splits", len(sizes))
	if _, given := c.args["num_splits"]; sizes == nil && !given {
		c.fail("", "give num_splits=2 for equal parts, or split_sizes",
			"num_splits and split_sizes are both missing for x%v", x.Shape)
		return
	}
	if sizes == nil {
		if n < 1 || n > maxSetting || length%n != 0 {
			c.fail("num_splits", "give split_sizes, or a divisor", "axis %d of x%v cannot be split into %d", axis,
				x.Shape, n)
			return
		}
		sizes = slices.Repeat([]int{length / n}, n)
	} else if n != len(sizes) {
		c.fail("num_splits", "remove one of the two", "%d for %d sizes", n, len(sizes))
	}
	sum := 0
	for _, n := range sizes {
		if n < 1 || n > length {
			c.fail("split_sizes", "sizes are at least 1 and add up to the axis", "%s of an axis of length %d",
				few(sizes), length)
			return
		}
		sum += n
	}
	if sum != length {
		c.fail("split_sizes", "make the sizes add up to the axis", "%s add up to %d, axis %d of x%v has %d",
			few(sizes), sum, axis, x.Shape, length)
		return
	}
	var types []mil.DType
	var shapes [][]int
	for _, n := range sizes {
		s := slices.Clone(x.Shape)
		s[axis] = n
		types, shapes = append(types, x.DType), append(shapes, s)
	}
	c.attrs = axis
	c.results(types, shapes)
}
