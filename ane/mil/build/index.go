package build

import "github.com/anekit/anekit/internal/ops"

// Operators that read and write elements where indices tell. Indices are integer tensors; one below 0 counts from the
// end of its axis, and one outside of the axis is taken as its first or last element. With ValidateIndices both are
// faults.

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

func (b BatchDims) set(c *call)       { c.put("batch_dims", int(b)) }
func (v ValidateIndices) set(c *call) { c.put("validate_indices", bool(v)) }
func (m ScatterMode) set(c *call)     { c.put("mode", string(m)) }

// Gather takes the elements of axis that indices tell: the axes of indices stand in the place of axis.
func (f *Func) Gather(x, indices Value, axis int, options ...Optional) Value {
	return f.plain("gather", x, indices, axis, options)
}

// GatherAlongAxis takes, for each element of indices, the element of x with that index on axis and the same indices on
// the others.
func (f *Func) GatherAlongAxis(x, indices Value, axis int, options ...Optional) Value {
	return f.plain("gather_along_axis", x, indices, axis, options)
}

// GatherNd takes parts of x: the last axis of indices has an index for each of the first axes of x.
func (f *Func) GatherNd(x, indices Value, options ...Optional) Value {
	return f.plain("gather_nd", x, indices, options)
}

// Scatter changes the elements of axis that indices tell. updates has the shape that Gather returns.
func (f *Func) Scatter(data, indices, updates Value, axis int, options ...Optional) Value {
	return f.plain("scatter", data, indices, updates, axis, options)
}

// ScatterAlongAxis changes, for each element of indices, the element of data with that index on axis and the same
// indices on the others. updates has the shape of indices.
func (f *Func) ScatterAlongAxis(data, indices, updates Value, axis int, options ...Optional) Value {
	return f.plain("scatter_along_axis", data, indices, updates, axis, options)
}

// ScatterNd changes parts of data. updates has the shape that GatherNd returns.
func (f *Func) ScatterNd(data, indices, updates Value, options ...Optional) Value {
	return f.plain("scatter_nd", data, indices, updates, options)
}

// Ascending starts with the least element instead of the greatest.
type Ascending bool

func (a Ascending) set(c *call) { c.put("ascending", bool(a)) }

// Topk returns the k greatest elements along axis, in order, and their indices. k = -1 takes all.
func (f *Func) Topk(x Value, k, axis int, options ...Optional) (values, indices Value) {
	return f.call("topk", x, k, axis, options).two()
}
