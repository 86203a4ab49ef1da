package build

import (
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/ops"
)

// Operators that read and write elements where indices tell. Indices are integer tensors; one below 0 counts from the
// end of its axis, and one outside of the axis is taken as its first or last element. With ValidateIndices both are
// faults.

// GatherOption is BatchDims or ValidateIndices.
type GatherOption interface{ gather(*indexed) }

// AxisOption is ValidateIndices.
type AxisOption interface{ along(*indexed) }

// ScatterOption is a ScatterMode or ValidateIndices.
type ScatterOption interface{ scatter(*indexed) }

// BatchDims is the number of leading axes that x and the indices share. The default is 0.
type BatchDims int

// ValidateIndices makes an evaluation fail that meets an index outside of its axis, or below 0.
type ValidateIndices bool

// ScatterMode tells how an update changes the element at its index.
type ScatterMode string

// The modes of the scatter operators.
const (
	ScatterUpdate ScatterMode = ops.ScatterUpdate // the update itself
	ScatterAdd    ScatterMode = ops.ScatterAdd    // the sum: the default
	ScatterSub    ScatterMode = ops.ScatterSub
	ScatterMul    ScatterMode = ops.ScatterMul
	ScatterDiv    ScatterMode = ops.ScatterDiv
	ScatterMax    ScatterMode = ops.ScatterMax
	ScatterMin    ScatterMode = ops.ScatterMin
)

func (b BatchDims) gather(i *indexed)        { i.batch = int(b) }
func (v ValidateIndices) gather(i *indexed)  { i.validate = bool(v) }
func (v ValidateIndices) along(i *indexed)   { i.validate = bool(v) }
func (v ValidateIndices) scatter(i *indexed) { i.validate = bool(v) }
func (m ScatterMode) scatter(i *indexed)     { i.mode = string(m) }

type indexed struct {
	batch    int
	mode     string
	validate bool
}

// Gather takes the elements of axis that indices tell: the axes of indices stand in the place of axis.
func (f *Func) Gather(x, indices Value, axis int, options ...GatherOption) Value {
	var i indexed
	for _, o := range given(options) {
		o.gather(&i)
	}
	return f.call("gather").value("x", x).value("indices", indices).int("axis", axis).int("batch_dims", i.batch).
		bool("validate_indices", i.validate).one()
}

// GatherAlongAxis takes, for each element of indices, the element of x with that index on axis and the same indices on
// the others.
func (f *Func) GatherAlongAxis(x, indices Value, axis int, options ...AxisOption) Value {
	var i indexed
	for _, o := range given(options) {
		o.along(&i)
	}
	return f.call("gather_along_axis").value("x", x).value("indices", indices).int("axis", axis).
		bool("validate_indices", i.validate).one()
}

// GatherNd takes parts of x: the last axis of indices has an index for each of the first axes of x.
func (f *Func) GatherNd(x, indices Value, options ...GatherOption) Value {
	var i indexed
	for _, o := range given(options) {
		o.gather(&i)
	}
	return f.call("gather_nd").value("x", x).value("indices", indices).int("batch_dims", i.batch).
		bool("validate_indices", i.validate).one()
}

func (c *call) scatter(data, indices, updates Value, options []ScatterOption) Value {
	i := indexed{mode: string(ScatterAdd)}
	for _, o := range given(options) {
		o.scatter(&i)
	}
	return c.value("data", data).value("indices", indices).value("updates", updates).word("mode", i.mode).
		bool("validate_indices", i.validate).one()
}

// Scatter changes the elements of axis that indices tell. updates has the shape that Gather returns.
func (f *Func) Scatter(data, indices, updates Value, axis int, options ...ScatterOption) Value {
	return f.call("scatter").int("axis", axis).scatter(data, indices, updates, options)
}

// ScatterAlongAxis changes, for each element of indices, the element of data with that index on axis and the same
// indices on the others. updates has the shape of indices.
func (f *Func) ScatterAlongAxis(data, indices, updates Value, axis int, options ...ScatterOption) Value {
	return f.call("scatter_along_axis").int("axis", axis).scatter(data, indices, updates, options)
}

// ScatterNd changes parts of data. updates has the shape that GatherNd returns.
func (f *Func) ScatterNd(data, indices, updates Value, options ...ScatterOption) Value {
	return f.call("scatter_nd").scatter(data, indices, updates, options)
}

// OrderOption is Ascending or IndexType.
type OrderOption interface{ order(*order) }

// Ascending starts with the least element instead of the greatest.
type Ascending bool

func (a Ascending) order(o *order) { o.ascending = bool(a) }
func (t IndexType) order(o *order) { o.indices = mil.DType(t) }

type order struct {
	ascending bool
	indices   mil.DType
}

// Topk returns the k greatest elements along axis, in order, and their indices. k = -1 takes all.
func (f *Func) Topk(x Value, k, axis int, options ...OrderOption) (values, indices Value) {
	o := order{indices: mil.Int32}
	for _, option := range given(options) {
		option.order(&o)
	}
	both := f.call("topk").value("x", x).int("k", k).int("axis", axis).bool("ascending", o.ascending).bool("sort",
		true).
		bool("return_indices", true).word("output_indices_dtype", o.indices.String()).many(2)
	return both[0], both[1]
}

// Argsort returns the indices of the elements along axis, the greatest first unless ascending.
func (f *Func) Argsort(x Value, axis int, ascending bool) Value {
	return f.call("argsort").value("x", x).int("axis", axis).bool("ascending", ascending).one()
}
