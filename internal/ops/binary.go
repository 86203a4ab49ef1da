package ops

import "github.com/anekit/anekit/ane/mil"

// binaries combine two tensors of one type, broadcast as numpy does; comparisons have a bool result. Attrs is nil.
var binaries = []Def{
	arithmetic("add", "returns x + y"),
	arithmetic("sub", "returns x - y"),
	arithmetic("mul", "returns x * y").limited(zeroLimits),
	arithmetic("real_div", "returns x / y"),
	arithmetic("floor_div", "returns x / y, rounded down to a whole number"),
	arithmetic("mod", "returns x - y * FloorDiv(x, y), which has the sign of y").nowhere("write x - y * floor(x / y)"),
	arithmetic("pow", "returns x to the power of y"),
	arithmetic("maximum", "returns the larger of x and y"),
	arithmetic("minimum", "returns the smaller of x and y"),
	comparison("greater", numerics, "returns x > y"),
	comparison("greater_equal", numerics, "returns x >= y"),
	comparison("less", numerics, "returns x < y"),
	comparison("less_equal", numerics, "returns x <= y"),
	comparison("equal", numerics, "returns x == y"),
	comparison("not_equal", numerics, "returns x != y"),
	logic("logical_and", "returns x && y"),
	logic("logical_or", "returns x || y"),
	logic("logical_xor", "returns x != y of truth values"),
	{Name: "select", Doc: "returns the elements of a where cond is true, those of b elsewhere",
		Params: []Param{tensor("cond", truths...), tensor("a", storable...), tensor("b", storable...)},
		infer: func(c *Call, x *Value) {
			c.sameType("a", "b")
			c.gives(nil, c.tensor("a").DType, c.broadcast("cond", "a", "b"))
		}},
}

func pairwise(name, doc string, types []mil.DType, result func(mil.DType) mil.DType) Def {
	params := []Param{tensor("x", types...), tensor("y", types...)}
	return Def{Name: name, Doc: doc, Params: params, infer: func(c *Call, x *Value) {
		c.sameType("x", "y")
		c.gives(nil, result(x.DType), c.broadcast("x", "y"))
	}}
}

func arithmetic(name, doc string) Def {
	return pairwise(name, doc, numerics, func(d mil.DType) mil.DType { return d })
}

func comparison(name string, types []mil.DType, doc string) Def {
	return pairwise(name, doc, types, func(mil.DType) mil.DType { return mil.Bool })
}

// logic is a comparison of truth values.
func logic(name, doc string) Def {
	return comparison(name, truths, doc).partly(some, some, "multiply, or take the maximum of, 0 and 1")
}

// Broadcast returns the shape of numpy broadcasting, false when the shapes do
// not fit.
func Broadcast(a, b []int) ([]int, bool) {
	n := max(len(a), len(b))
	a, b = lead(a, n), lead(b, n)
	out := make([]int, n)
	for i := range out {
		if a[i] != b[i] && a[i] != 1 && b[i] != 1 {
			return nil, false
		}
		out[i] = max(a[i], b[i])
	}
	return out, true
}

// broadcast returns the common shape of several arguments.
func (c *Call) broadcast(names ...string) []int {
	shape := c.tensor(names[0]).Shape
	for _, name := range names[1:] {
		v := c.tensor(name)
		wider, ok := Broadcast(shape, v.Shape)
		c.refuseIf(!ok, name, "make the axes equal or 1", "shape %v does not broadcast with %v", v.Shape, shape)
		shape = wider
	}
	return shape
}
