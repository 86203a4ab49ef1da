package ops

import (
	"slices"

	"github.com/anekit/anekit/ane/mil"
)

// reductions fold axes of a tensor; softmax keeps its shape. Attrs is a Reduce
// for those that fold, reduce_argmax and reduce_argmin included, and an int, the
// axis, for softmax.
var reductions = []Def{
	reduction("reduce_sum", numerics),
	reduction("reduce_mean", floats).contested("reduce_sum and a multiplication run everywhere"),
	reduction("reduce_max", numerics),
	reduction("reduce_min", numerics), reduction("reduce_prod", numerics).nowhere("write exp of a sum of logarithms"),
	reduction("reduce_l1_norm", numerics),
	reduction("reduce_l2_norm", floats), reduction("reduce_log_sum", floats),
	reduction("reduce_log_sum_exp", floats).costs(Twice), reduction("reduce_sum_square", numerics),
	extreme("reduce_argmax"), extreme("reduce_argmin"),
	{Name: "softmax", Family: Norms, Cost: Twice, Params: []Param{tensor("x"), option("axis")}, infer: func(c *Call) {
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
		if name == "reduce_prod" {
			c.cpu()
		}
		c.attrs = Reduce{Axes: axes}
		c.gives(x.DType, shape)
	}}
}

// extreme is an operator that returns indexes along one axis.
func extreme(name string) Def {
	params := []Param{tensor("x"), option("axis"), option("keep_dims"), option("output_dtype")}
	return Def{Name: name, support: nowhere(chosen), Params: params, infer: func(c *Call) {
		x := c.tensor("x")
		c.needs("x", numerics...)
		c.cpu()
		axis, keep := c.axis("axis", x.Rank(), -1), c.boolean("keep_dims", false)
		d := mil.Int32
		if c.word("output_dtype", "int32", "int32", "uint16") == "uint16" {
			d = mil.UInt16
		}
		if c.failed() {
			return
		}
		if n := x.Shape[axis]; d == mil.UInt16 && n > 1<<16 {
			c.fail("output_dtype", "use int32", "uint16 does not hold the indexes of %d elements", n)
		}
		shape := slices.Clone(x.Shape)
		if shape[axis] = 1; !keep {
			shape = slices.Delete(shape, axis, axis+1)
		}
		c.attrs = Reduce{Axes: []int{axis}}
		c.gives(d, shape)
	}}
}
