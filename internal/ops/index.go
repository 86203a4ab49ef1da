package ops

import (
	"slices"

	"github.com/anekit/anekit/ane/mil"
)

// indexing reads and writes elements where other tensors tell, and orders elements. Attrs is a Gather, a Scatter or a
// TopK.
//
// An index below 0 counts from the end of its axis, as in opsets before ios17. Indices outside of the axis are taken
// as its first or last element; coremltools does not define them. With validate_indices both are faults, of the
// program if the indices are constant, else of the evaluation.
var indexing = []*Def{
	gathering("gather", inferGather, integer("axis").or(0), integer("batch_dims").or(0)).costs(Moves).
		limited(gatherLimits).partly(some, some, "slice, or multiply by a one-hot matrix"),
	gathering("gather_along_axis", func(c *Call, x *Value) {
		axis := c.beside("x")
		c.gives(Gather{Axis: axis, Validate: c.located(x.Shape[axis])}, x.DType, c.Value("indices").Shape)
	}, integer("axis").or(0)),
	gathering("gather_nd", inferGatherND, integer("batch_dims").or(0)),
	scattering("scatter", func(c *Call, data *Value) {
		axis, s := c.axis("axis", data.Rank()), data.Shape
		c.scattered(data, axis, slices.Concat(s[:axis], c.Value("indices").Shape, s[axis+1:]), s[axis])
	}, integer("axis").or(0)),
	scattering("scatter_along_axis", func(c *Call, data *Value) {
		axis := c.beside("data")
		c.scattered(data, axis, c.Value("indices").Shape, data.Shape[axis])
	}, integer("axis").or(0)),
	scattering("scatter_nd", inferScatterND),
	{Name: "topk", support: support{bridge: true}, limits: topKLimits, infer: inferTopK,
		Params: []*Param{tensor("x", ordered...), integer("k").or(1).sized(), integer("axis").or(-1),
			boolean("ascending").or(false),
			boolean("sort").or(true), // results that need not be sorted are sorted all the same
			boolean("return_indices").or(true),
			types("output_indices_dtype", mil.Int32, mil.UInt16).or("int32")}},
	{Name: "argsort", support: support{memory: refused, e5: refused, cpu: true, instead: chosen, bridge: true},
		Params: []*Param{tensor("x", ordered...), integer("axis").or(-1), boolean("ascending").or(false)},
		Doc:    "returns the indices of the elements along axis, the greatest first unless ascending",
		infer: func(c *Call, x *Value) {
			axis := c.axis("axis", x.Rank())
			c.gives(TopK{axis, x.Shape[axis], c.boolean("ascending")}, mil.Int32, x.Shape)
		}},
}

func gathering(name string, infer func(*Call, *Value), settings ...*Param) *Def {
	return &Def{Name: name, infer: infer, support: nowhere(gathered), Params: slices.Concat([]*Param{
		tensor("x", storable...), tensor("indices", indexes...)}, settings, []*Param{boolean("validate_indices").or(false)})}
}

func scattering(name string, infer func(*Call, *Value), settings ...*Param) *Def {
	return &Def{Name: name, infer: infer, support: nowhere(gathered), Params: slices.Concat(
		[]*Param{tensor("data", storable...), tensor("indices", indexes...), tensor("updates")}, settings,
		[]*Param{word("mode", ScatterUpdate, ScatterAdd, ScatterSub, ScatterMul, ScatterDiv, ScatterMax, ScatterMin).
			or(ScatterAdd), boolean("validate_indices").or(false)})}
}

// Gather holds the settings of the gather operators.
type Gather struct {
	Axis     int // gather and gather_along_axis
	Batch    int // leading axes that x and indices share
	Validate bool
}

// Scatter holds the settings of the scatter operators.
type Scatter struct {
	Axis     int // scatter and scatter_along_axis
	Mode     string
	Validate bool
}

// Modes of the scatter operators: how an update changes the element at its index.
const (
	ScatterUpdate = "update"
	ScatterAdd    = "add"
	ScatterSub    = "sub"
	ScatterMul    = "mul"
	ScatterDiv    = "div"
	ScatterMax    = "max"
	ScatterMin    = "min"
)

// TopK holds the settings of topk and argsort.
type TopK struct {
	Axis, K   int
	Ascending bool
}

// located checks constant indices if the program asks for it. limits are the lengths of the axes that the last axis of
// indices counts, or one for all.
func (c *Call) located(limits ...int) (validate bool) {
	validate = c.boolean("validate_indices")
	v := c.Value("indices")
	if !validate || v.Data == nil {
		return validate
	}
	for i, f := range v.Floats() {
		if n := limits[i%len(limits)]; f < 0 || f >= float64(n) { // not refuseIf, which would box each index
			c.refuse("indices", "with validate_indices, indices are from 0 to the last of the axis",
				"%.0f of an axis of length %d", f, n)
		}
	}
	return validate
}

func inferGather(c *Call, x *Value) {
	at := c.Value("indices")
	a := Gather{Axis: c.axis("axis", x.Rank()), Batch: c.integer("batch_dims")}
	c.refuseIf(
		a.Batch < 0 || a.Batch > a.Axis || a.Batch > at.Rank() || !slices.Equal(x.Shape[:a.Batch], at.Shape[:a.Batch]),
		"batch_dims", "x and indices share these axes, and axis comes after them",
		"%d for x%v, indices%v and axis %d", a.Batch, x.Shape, at.Shape, a.Axis)
	a.Validate = c.located(x.Shape[a.Axis])
	c.gives(a, x.DType, slices.Concat(x.Shape[:a.Axis], at.Shape[a.Batch:], x.Shape[a.Axis+1:]))
}

// beside checks that indices has the shape of x but for one axis.
func (c *Call) beside(name string) (axis int) {
	x, at := c.Value(name), c.Value("indices")
	axis = c.axis("axis", x.Rank())
	fits := at.Rank() == x.Rank()
	for i := range x.Shape {
		fits = fits && (i == axis || at.Shape[i] == x.Shape[i])
	}
	c.refuseIf(!fits, "indices", "only axis may differ from "+name, "shape %v for %s%v", at.Shape, name, x.Shape)
	return axis
}

func inferGatherND(c *Call, x *Value) {
	at := c.Value("indices")
	a := Gather{Batch: c.integer("batch_dims")}
	n := at.Rank() - 1
	c.refuseIf(
		a.Batch < 0 || a.Batch > n || a.Batch > x.Rank() || !slices.Equal(x.Shape[:a.Batch], at.Shape[:a.Batch]),
		"batch_dims", "x and indices share these axes; the last axis of indices is none of them",
		"%d for x%v and indices%v", a.Batch, x.Shape, at.Shape)
	depth := at.Shape[n]
	c.refuseIf(depth > x.Rank()-a.Batch, "indices", "the last axis has an index for each of the first axes of x",
		"%d indices for x%v after %d batch axes", depth, x.Shape, a.Batch)
	a.Validate = c.located(x.Shape[a.Batch : a.Batch+depth]...)
	c.gives(a, x.DType, slices.Concat(at.Shape[:n], x.Shape[a.Batch+depth:]))
}

// scattered is the rule of a scatter operator whose updates should have a shape. limits are those of located.
func (c *Call) scattered(data *Value, axis int, shape []int, limits ...int) {
	mode := c.word("mode")
	c.refuseIf(data.DType == mil.Bool && mode != ScatterUpdate, "mode", `write mode = string("update")`,
		"%s is not handled for type bool", mode)
	c.shaped("updates", shape, "give an update for each index", "shape %v where data%v and indices%v need %v",
		data.Shape, c.Value("indices").Shape, shape)
	c.gives(Scatter{axis, mode, c.located(limits...)}, data.DType, data.Shape)
}

func inferScatterND(c *Call, data *Value) {
	at, s := c.Value("indices"), data.Shape
	n := at.Rank() - 1
	c.refuseIf(n < 0 || at.Shape[n] > len(s), "indices",
		"the last axis has an index for each of the first axes of data", "shape %v for data%v", at.Shape, s)
	c.scattered(data, 0, slices.Concat(at.Shape[:n], s[at.Shape[n]:]), s[:at.Shape[n]]...)
}

// ordered are the types whose elements have an order.
var ordered = slices.DeleteFunc(slices.Clone(storable), isBool)

func inferTopK(c *Call, x *Value) {
	a := TopK{Axis: c.axis("axis", x.Rank()), K: c.integer("k"), Ascending: c.boolean("ascending")}
	indices := c.boolean("return_indices")
	d := c.dtype("output_indices_dtype")
	length := x.Shape[a.Axis]
	if a.K == -1 {
		a.K = length
	}
	switch {
	case a.K < 1 || a.K > length:
		c.refuse("k", "choose from 1 to the length of the axis; -1 takes all", "%d of axis %d of x%v", a.K, a.Axis,
			x.Shape)
	case !indices && c.Value("output_indices_dtype") != nil:
		c.refuse("output_indices_dtype", "remove it, or return_indices = bool(false)", "there are no indices")
	case d == mil.UInt16 && length > 1<<16:
		c.refuse("output_indices_dtype", `write string("int32")`, "uint16 does not hold the indices of axis %d of x%v",
			a.Axis, x.Shape)
	}
	shape := with(x.Shape, a.Axis, a.K)
	c.gives(a, x.DType, shape)
	if indices {
		c.gives(a, d, shape)
	}
}
