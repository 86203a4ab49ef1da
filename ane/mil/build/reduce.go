package build

// ReduceOption is KeepDims.
type ReduceOption interface{ reduce(*reduction) }

// KeepDims keeps the reduced axes with length 1, instead of dropping them.
type KeepDims bool

func (k KeepDims) reduce(r *reduction) { r.keep = k }

type reduction struct{ keep KeepDims }

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
