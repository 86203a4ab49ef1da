package build

// Operators that keep the elements and change the shape.

// Reshape gives x another shape; one axis may be -1, for what is left.
func (f *Func) Reshape(x Value, shape ...int) Value {
	return f.call("reshape").value("x", x).ints("shape", closed(shape, x)).one()
}

// closed replaces an axis of -1 by its length, since not every compiler works it out.
func closed(shape []int, x Value) []int {
	open, known := -1, 1
	for i, n := range shape {
		switch {
		case n == -1 && open < 0:
			open = i
		case n < 1 || known > maxElements/n:
			return shape // a fault, that the rule of reshape tells
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

// Transpose puts axis perm[i] of x at i.
func (f *Func) Transpose(x Value, perm ...int) Value {
	return f.call("transpose").value("x", x).ints("perm", perm).one()
}

// ExpandDims puts axes of length 1 at the places that they have in the result.
func (f *Func) ExpandDims(x Value, axes ...int) Value {
	return f.call("expand_dims").value("x", x).ints("axes", axes).one()
}

// Squeeze drops axes of length 1, all of them when none is named.
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
