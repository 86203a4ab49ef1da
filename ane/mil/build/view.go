package build

// Operators that keep the elements and change the shape.

// Reshape gives x another shape. One axis may be -1: its length follows from the others.
func (f *Func) Reshape(x Value, shape ...int) Value {
	return f.call("reshape").value("x", x).ints("shape", closed(shape, x)).one()
}

// closed replaces an axis of -1 by its length, because not every compiler computes it.
func closed(shape []int, x Value) []int {
	open, known := -1, 1
	for i, n := range shape {
		switch {
		case n == -1 && open < 0:
			open = i
		case n < 1 || known > maxElements/n:
			return shape // a fault, which the rule of reshape reports
		default:
			known *= n
		}
	}
	total, _ := x.Type().Elements()
	if open < 0 || total%known != 0 || total < known {
		return shape
	}
	out := append([]int(nil), shape...)
	out[open] = total / known
	return out
}

// Transpose reorders the axes: axis i of the result is axis perm[i] of x.
func (f *Func) Transpose(x Value, perm ...int) Value {
	return f.call("transpose").value("x", x).ints("perm", perm).one()
}

// ExpandDims inserts axes of length 1. axes are their indexes in the result.
func (f *Func) ExpandDims(x Value, axes ...int) Value {
	return f.call("expand_dims").value("x", x).ints("axes", axes).one()
}

// Squeeze drops axes of length 1, or all axes of length 1 if axes is empty.
func (f *Func) Squeeze(x Value, axes ...int) Value {
	if len(axes) == 0 {
		for i, n := range x.Shape() {
			if n == 1 {
				axes = append(axes, i)
			}
		}
	}
	return f.call("squeeze").value("x", x).ints("axes", axes).one()
}
