package build

// Concat joins values along axis.
func (f *Func) Concat(axis int, values ...Value) Value { return f.concat(axis, values, false) }

// ConcatInterleaved is Concat that takes one slice of each value in turn.
func (f *Func) ConcatInterleaved(axis int, values ...Value) Value {
	return f.concat(axis, values, true)
}

func (f *Func) concat(axis int, values []Value, interleave bool) Value {
	return f.call("concat").int("axis", axis).bool("interleave", interleave).values("values", values).one()
}

// maxParts is the largest number of Values that a faulty Split returns.
const maxParts = 1 << 16

// Split splits x along axis into n parts of one size.
func (f *Func) Split(x Value, axis, n int) []Value {
	return f.call("split").value("x", x).int("axis", axis).int("num_splits", n).many(min(max(n, 1), maxParts))
}

// SplitSizes splits x along axis into parts of these sizes.
func (f *Func) SplitSizes(x Value, axis int, sizes ...int) []Value {
	return f.call("split").value("x", x).int("axis", axis).ints("split_sizes", sizes).many(len(sizes))
}
