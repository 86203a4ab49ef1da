package ops

import (
	"cmp"

	"github.com/anekit/anekit/ane/mil"
)

// binaries combine two tensors of one type, broadcast as numpy does; comparisons have a bool result. Attrs is nil.
var binaries = []*Def{
	arithmetic("add", "returns x + y"),
	arithmetic("sub", "returns x - y"),
	arithmetic("mul", "returns x * y").limited(zeroLimits),
	arithmetic("real_div", "returns x / y"),
	arithmetic("floor_div", "returns x / y, rounded down to a whole number"),
	arithmetic("mod", "returns x - y * FloorDiv(x, y), which has the sign of y").nowhere("write x - y * floor(x / y)"),
	arithmetic("pow", "returns x to the power of y"),
	arithmetic("maximum", "returns the larger of x and y"),
	arithmetic("minimum", "returns the smaller of x and y"),
	comparison("greater", "returns x > y"),
	comparison("greater_equal", "returns x >= y"),
	comparison("less", "returns x < y"),
	comparison("less_equal", "returns x <= y"),
	comparison("equal", "returns x == y"),
	comparison("not_equal", "returns x != y"),
	logic("logical_and", "returns x && y"),
	logic("logical_or", "returns x || y"),
	logic("logical_xor", "returns x != y of truth values"),
	{Name: "select", Doc: "returns the elements of a where cond is true, those of b elsewhere",
		Params: []*Param{tensor("cond", truths...), tensor("a", storable...), tensor("b", storable...)},
		infer: func(c *Call, x *Value) {
			c.sameType("a", "b")
			c.gives(nil, c.Value("a").DType, c.broadcast("cond", "a", "b"))
		}},
}

// pairwise is an operator with results of a type, NoType for that of x.
func pairwise(name, doc string, types []mil.DType, result mil.DType) *Def {
	params := []*Param{tensor("x", types...), tensor("y", types...)}
	return &Def{Name: name, Doc: doc, Params: params, infer: func(c *Call, x *Value) {
		c.sameType("x", "y")
		c.gives(nil, cmp.Or(result, x.DType), c.broadcast("x", "y"))
	}}
}

func arithmetic(name, doc string) *Def { return pairwise(name, doc, numerics, mil.NoType) }

func comparison(name, doc string) *Def { return pairwise(name, doc, numerics, mil.Bool) }

func logic(name, doc string) *Def {
	return pairwise(name, doc, truths, mil.Bool).partly(some, some, "multiply, or take the maximum of, 0 and 1")
}

// Broadcast returns the shape of numpy broadcasting, false when the shapes do not fit.
func Broadcast(shapes ...[]int) (wide []int, ok bool) {
	for _, s := range shapes {
		n := max(len(wide), len(s))
		wide, s = lead(wide, n), lead(s, n)
		for i := range wide {
			if wide[i] != s[i] && wide[i] != 1 && s[i] != 1 {
				return nil, false
			}
			wide[i] = max(wide[i], s[i])
		}
	}
	return wide, true
}

// broadcast returns the common shape of several arguments.
func (c *Call) broadcast(names ...string) (shape []int) {
	for _, name := range names {
		v := c.Value(name)
		wider, ok := Broadcast(shape, v.Shape)
		c.refuseIf(!ok, name, "make the axes equal or 1", "shape %v does not broadcast with %v", v.Shape, shape)
		shape = wider
	}
	return shape
}
