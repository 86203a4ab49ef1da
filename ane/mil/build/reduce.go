package build

import "github.com/anekit/anekit/ane/mil"

// ReduceOption is KeepDims.
type ReduceOption interface{ reduce(*reduction) }

// KeepDims keeps the reduced axes with length 1, instead of dropping them.
type KeepDims bool

func (k KeepDims) reduce(r *reduction) { r.keep = k }

type reduction struct {
	keep  KeepDims
	index mil.DType // reduce_argmax, reduce_argmin
}

// ReduceSum sums over axes, or over all axes if the list is empty.
func (f *Func) ReduceSum(x Value, axes []int, options ...ReduceOption) Value {
	return f.fold("reduce_sum", x, axes, options)
}

// ReduceMean returns the mean over axes, or over all axes if the list is empty.
func (f *Func) ReduceMean(x Value, axes []int, options ...ReduceOption) Value {
	return f.fold("reduce_mean", x, axes, options)
}

// ReduceMax returns the maximum along axes, or along all axes if the list is empty.
func (f *Func) ReduceMax(x Value, axes []int, options ...ReduceOption) Value {
	return f.fold("reduce_max", x, axes, options)
}

// ReduceMin returns the minimum along axes, or along all axes if the list is empty.
func (f *Func) ReduceMin(x Value, axes []int, options ...ReduceOption) Value {
	return f.fold("reduce_min", x, axes, options)
}

// ReduceProd multiplies along axes, or along all axes if the list is empty. Apple's engine is known to refuse it.
func (f *Func) ReduceProd(x Value, axes []int, options ...ReduceOption) Value {
	return f.fold("reduce_prod", x, axes, options)
}

// ReduceL1Norm sums the magnitudes along axes, or along all axes if the list is empty.
func (f *Func) ReduceL1Norm(x Value, axes []int, options ...ReduceOption) Value {
	return f.fold("reduce_l1_norm", x, axes, options)
}

// ReduceL2Norm returns the square root of the sum of squares along axes, or along all axes if the list is empty.
func (f *Func) ReduceL2Norm(x Value, axes []int, options ...ReduceOption) Value {
	return f.fold("reduce_l2_norm", x, axes, options)
}

// ReduceLogSum returns the natural logarithm of the sum along axes, or along all axes if the list is empty.
func (f *Func) ReduceLogSum(x Value, axes []int, options ...ReduceOption) Value {
	return f.fold("reduce_log_sum", x, axes, options)
}

// ReduceLogSumExp returns the natural logarithm of the sum of exponentials along axes, or along all axes if the list
// is empty. Large elements do not overflow.
func (f *Func) ReduceLogSumExp(x Value, axes []int, options ...ReduceOption) Value {
	return f.fold("reduce_log_sum_exp", x, axes, options)
}

// ReduceSumSquare sums the squares along axes, or along all axes if the list is empty.
func (f *Func) ReduceSumSquare(x Value, axes []int, options ...ReduceOption) Value {
	return f.fold("reduce_sum_square", x, axes, options)
}

// ReduceArgOption is KeepDims or IndexType.
type ReduceArgOption interface{ reduceArg(*reduction) }

// IndexType is the type of indexes: int32, the default, or uint16.
type IndexType mil.DType

func (k KeepDims) reduceArg(r *reduction)  { r.keep = k }
func (t IndexType) reduceArg(r *reduction) { r.index = mil.DType(t) }

// ReduceArgmax returns the index of the maximum along axis. Of equal elements it returns one, the software engine the
// first. Apple's engine is known to refuse it.
func (f *Func) ReduceArgmax(x Value, axis int, options ...ReduceArgOption) Value {
	return f.arg("reduce_argmax", x, axis, options)
}

// ReduceArgmin returns the index of the minimum along axis, like ReduceArgmax.
func (f *Func) ReduceArgmin(x Value, axis int, options ...ReduceArgOption) Value {
	return f.arg("reduce_argmin", x, axis, options)
}

func (f *Func) arg(kind string, x Value, axis int, options []ReduceArgOption) Value {
	r := reduction{index: mil.Int32}
	for _, o := range given(options) {
		o.reduceArg(&r)
	}
	return f.call(kind).value("x", x).int("axis", axis).bool("keep_dims", bool(r.keep)).
		word("output_dtype", r.index.String()).one()
}

func (f *Func) fold(kind string, x Value, axes []int, options []ReduceOption) Value {
	var r reduction
	for _, o := range given(options) {
		o.reduce(&r)
	}
	if len(axes) == 0 {
		for i := range x.rank() {
			axes = append(axes, i)
		}
	}
	return f.call(kind).value("x", x).ints("axes", axes).bool("keep_dims", bool(r.keep)).one()
}

// Softmax returns exp(x) divided by its sum along axis.
func (f *Func) Softmax(x Value, axis int) Value {
	return f.call("softmax").value("x", x).int("axis", axis).one()
}
