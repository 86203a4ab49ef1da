package ops

import "github.com/anekit/anekit/ane/mil"

// comparisons, logic and select. Attrs is nil.
var comparisons = []Def{
	comparison("greater", numerics), comparison("greater_equal", numerics), comparison("less", numerics),
	comparison("less_equal", numerics), comparison("equal", numerics), comparison("not_equal", numerics),
	logic("logical_and"), logic("logical_or"), logic("logical_xor"),
	{Name: "select", Params: []Param{tensor("cond"), tensor("a"), tensor("b")}, infer: inferSelect},
}

var truths = []mil.DType{mil.Bool}

// comparison is an operator on two tensors of one type with a bool result.
func comparison(name string, types []mil.DType) Def {
	return Def{Name: name, Params: []Param{tensor("x"), tensor("y")}, infer: func(c *Call) {
		c.needs("x", types...)
		c.needs("y", types...)
		c.sameType("x", "y")
		shape := c.broadcast("x", "y")
		if d := c.tensor("x").DType; d != mil.Bool {
			c.fp32(d)
		}
		c.gives(mil.Bool, shape)
	}}
}

// logic is a comparison of truth values.
func logic(name string) Def {
	return comparison(name, truths).partly(some, some, "multiply, or take the maximum of, 0 and 1")
}

func inferSelect(c *Call) {
	c.needs("cond", mil.Bool)
	c.needs("a", storable...)
	c.needs("b", storable...)
	c.sameType("a", "b")
	shape := c.broadcast("cond", "a", "b")
	c.gives(c.tensor("a").DType, shape)
}

// broadcast returns the common shape of several arguments.
func (c *Call) broadcast(names ...string) []int {
	shape := c.tensor(names[0]).Shape
	for _, name := range names[1:] {
		v := c.tensor(name)
		wider, ok := Broadcast(shape, v.Shape)
		if !ok {
			c.fail(name, "make the axes equal or 1", "shape %v does not broadcast with %v", v.Shape, shape)
			return shape
		}
		shape = wider
	}
	return shape
}
