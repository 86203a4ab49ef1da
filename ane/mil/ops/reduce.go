package ops

import (
	"slices"

	"github.com/anekit/anekit/ane/mil"
)

// reductions fold axes of a tensor; softmax keeps its shape. Attrs is a Reduce
// for the first three and an int, the axis, for softmax.
var reductions = []Def{
	reduction("reduce_sum", numerics), reduction("reduce_mean", floats), reduction("reduce_max", numerics),
	{Name: "softmax", Params: []Param{tensor("x"), option("axis")}, infer: func(c *Call) {
		x := c.tensor("x")
		c.needs("x", floats...)
		c.fp32(x.DType)
		c.attrs = c.axis("axis", x.Rank(), -1)
		c.gives(x.DType, x.Shape)
	}},
}

// Reduce holds the settings of a reduction.
type Reduce struct {
	Axes []int // ascending; empty only for a scalar
}

func reduction(name string, types []mil.DType) Def {
	return Def{Name: name, Params: []Param{tensor("x"), option("axes"), option("keep_dims")}, infer: func(c *Call) {
		x := c.tensor("x")
		c.needs("x", types...)
		c.fp32(x.DType)
		all := make([]int, x.Rank())
		for i := range all {
			all[i] = i
		}
		axes := c.axes("axes", x.Rank(), all)
		keep := c.boolean("keep_dims", false)
		var shape []int
		for i, n := range x.Shape {
			switch folded := slices.Contains(axes, i); {
			case !folded:
				shape = append(shape, n)
			case keep:
				shape = append(shape, 1)
			}
		}
		c.attrs = Reduce{Axes: axes}
		c.gives(x.DType, shape)
	}}
}
