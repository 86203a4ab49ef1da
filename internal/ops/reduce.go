package ops

import (
	"slices"

	"github.com/anekit/anekit/ane/mil"
)

// reductions fold axes of a tensor. Attrs is a Reduce.
var reductions = []*Def{
	reduction("reduce_sum", numerics, "sums over axes, or over all axes if the list is empty"),
	reduction("reduce_mean", floats, "returns the mean over axes, or over all axes if the list is empty").
		contested("reduce_sum and a multiplication run everywhere"),
	reduction("reduce_max", numerics, "returns the maximum along axes"+orAll),
	reduction("reduce_min", numerics, "returns the minimum along axes"+orAll),
	reduction("reduce_prod", numerics, "multiplies along axes"+orAll).nowhere("write exp of a sum of logarithms"),
	reduction("reduce_l1_norm", numerics, "sums the magnitudes along axes"+orAll),
	reduction("reduce_l2_norm", floats, "returns the square root of the sum of squares along axes"+orAll),
	reduction("reduce_log_sum", floats, "returns the natural logarithm of the sum along axes"+orAll),
	reduction("reduce_log_sum_exp", floats, "returns the natural logarithm of the sum of exponentials along axes"+orAll+
		". Large elements do not overflow").costs(Twice),
	reduction("reduce_sum_square", numerics, "sums the squares along axes"+orAll),
	extreme("reduce_argmax"), extreme("reduce_argmin"),
}

const orAll = ", or along all axes if the list is empty"

// Reduce holds the settings of a reduction.
type Reduce struct {
	Axes []int // ascending; empty only for a scalar
}

func reduction(name string, types []mil.DType, doc string) *Def {
	params := []*Param{tensor("x", types...), integers("axes").or(AllAxes).spelled(),
		boolean("keep_dims").or(false).spelled()}
	return &Def{Name: name, Doc: doc, Params: params, infer: func(c *Call, x *Value) {
		axes, keep := c.axes("axes", x.Rank()), c.boolean("keep_dims")
		var shape []int
		for i, n := range x.Shape {
			switch folded := slices.Contains(axes, i); {
			case !folded:
				shape = append(shape, n)
			case keep:
				shape = append(shape, 1)
			}
		}
		c.gives(Reduce{Axes: axes}, x.DType, shape)
	}}
}

// extreme is an operator that returns indexes along one axis.
func extreme(name string) *Def {
	params := []*Param{tensor("x", numerics...), integer("axis").or(-1), boolean("keep_dims").or(false).spelled(),
		types("output_dtype", mil.Int32, mil.UInt16).or("int32")}
	return &Def{Name: name, support: nowhere(chosen), Params: params, infer: func(c *Call, x *Value) {
		axis, keep, d := c.axis("axis", x.Rank()), c.boolean("keep_dims"), c.dtype("output_dtype")
		c.refuseIf(d == mil.UInt16 && x.Shape[axis] > 1<<16, "output_dtype", "use int32",
			"uint16 does not hold the indexes of %d elements", x.Shape[axis])
		shape := with(x.Shape, axis, 1)
		if !keep {
			shape = slices.Delete(shape, axis, axis+1)
		}
		c.gives(Reduce{Axes: []int{axis}}, d, shape)
	}}
}

// norms scale values. Attrs is a Norm; of softmax an int, the axis.
var norms = []*Def{
	{Name: "softmax", Doc: "returns exp(x) divided by its sum along axis",
		Params: []*Param{tensor("x", floats...), integer("axis").or(-1).spelled()}, infer: func(c *Call, x *Value) {
			c.keeps(c.axis("axis", x.Rank()))
		}},
	{Name: "layer_norm", Params: []*Param{tensor("x", floats...), tensor("gamma").optional(), tensor("beta").optional(),
		integers("axes").or(AllAxes), number("epsilon").or(1e-5).spelled()}, infer: inferLayerNorm},
	{Name: "batch_norm", Cost: Pass, support: support{memory: some, instead: "fold it into the convolution before it"},
		Params: []*Param{channelled, tensor("mean"), tensor("variance"), tensor("gamma").optional(),
			tensor("beta").optional(), number("epsilon").or(1e-5).spelled()}, infer: inferChannelNorm},
	{Name: "instance_norm", support: support{memory: some, instead: "write it with reduce_mean, sub, mul and rsqrt"},
		Params: []*Param{channelled, tensor("gamma").optional(), tensor("beta").optional(),
			number("epsilon").or(1e-5).spelled()}, infer: inferChannelNorm},
	{Name: "l2_norm", support: support{contested: "mul, reduce_sum and pow run where l2_norm was refused"},
		Params: []*Param{tensor("x", floats...).ranks(3, MaxRank, "give it three axes with expand_dims",
			"shape %v; the norm is that of the last three axes"), number("epsilon").or(1e-6).spelled()},
		infer: func(c *Call, x *Value) {
			r := x.Rank()
			c.keeps(Norm{Axes: []int{r - 3, r - 2, r - 1}, Epsilon: c.epsilon()})
		}},
	{Name: "local_response_norm", limits: responseLimits, Params: []*Param{channelled, integer("size"),
		number("alpha").or(1e-4), number("beta").or(0.75), number("k").or(1.0)}, infer: func(c *Call, x *Value) {
		a := Norm{Size: c.integer("size"), Alpha: c.number("alpha"), Beta: c.number("beta"), K: c.number("k")}
		c.refuseIf(a.Size < 1 || a.Size > MaxElements, "size", "give the number of channels of a neighborhood",
			"%d is out of range", a.Size)
		c.keeps(a)
	}},
}

var channelled = tensor("x", floats...).ranks(3, MaxRank, "give it three axes with expand_dims",
	"shape %v, not [N, C, ..]")

// Norm holds the settings of a normalization.
type Norm struct {
	Axes    []int   // layer_norm, l2_norm, instance_norm: ascending
	Epsilon float64 // added to the biased variance, or to the sum of squares

	Size           int     // local_response_norm: channels of a neighborhood
	Alpha, Beta, K float64 // local_response_norm
}

func inferLayerNorm(c *Call, x *Value) {
	axes := c.axes("axes", x.Rank())
	c.refuseIf(len(axes) == 0, "axes", "reshape x; a scalar has no axes",
		"there is no axis to normalize")
	var shape []int
	for _, a := range axes {
		shape = append(shape, x.Shape[a])
	}
	for _, name := range []string{"gamma", "beta"} {
		c.shaped(name, shape, "give it the shape of the normalized axes", "shape %v for axes of shape %v", shape)
	}
	c.keeps(Norm{Axes: axes, Epsilon: c.epsilon()})
}

// inferChannelNorm is the rule of the norms of x [N, C, *D] whose parameters have one number for each channel.
func inferChannelNorm(c *Call, x *Value) {
	for _, p := range c.Def.Params[1:] {
		if !p.Const {
			c.shaped(p.Name, x.Shape[1:2], "give one number for each channel", "shape %v for %d channels", x.Shape[1])
		}
	}
	a := Norm{Epsilon: c.epsilon()}
	for i := 2; i < x.Rank(); i++ {
		a.Axes = append(a.Axes, i)
	}
	c.keeps(a)
}
