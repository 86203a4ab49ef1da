package build

// More operators on two tensors of one type, broadcast as in numpy. Comparisons have a bool result.

// FloorDiv returns x / y, rounded down to a whole number.
func (f *Func) FloorDiv(x, y Value) Value { return f.binary("floor_div", x, y) }

// Mod returns x - y * FloorDiv(x, y), which has the sign of y. Apple's engine does not run it.
func (f *Func) Mod(x, y Value) Value { return f.binary("mod", x, y) }

// Greater returns x > y.
func (f *Func) Greater(x, y Value) Value { return f.binary("greater", x, y) }

// GreaterEqual returns x >= y.
func (f *Func) GreaterEqual(x, y Value) Value { return f.binary("greater_equal", x, y) }

// Less returns x < y.
func (f *Func) Less(x, y Value) Value { return f.binary("less", x, y) }

// LessEqual returns x <= y.
func (f *Func) LessEqual(x, y Value) Value { return f.binary("less_equal", x, y) }

// Equal returns x == y.
func (f *Func) Equal(x, y Value) Value { return f.binary("equal", x, y) }

// NotEqual returns x != y.
func (f *Func) NotEqual(x, y Value) Value { return f.binary("not_equal", x, y) }

// LogicalAnd returns x && y.
func (f *Func) LogicalAnd(x, y Value) Value { return f.binary("logical_and", x, y) }

// LogicalOr returns x || y.
func (f *Func) LogicalOr(x, y Value) Value { return f.binary("logical_or", x, y) }

// LogicalXor returns x != y of truth values.
func (f *Func) LogicalXor(x, y Value) Value { return f.binary("logical_xor", x, y) }

// Select returns the elements of a where cond is true, those of b elsewhere.
func (f *Func) Select(cond, a, b Value) Value {
	return f.call("select").value("cond", cond).value("a", a).value("b", b).one()
}
