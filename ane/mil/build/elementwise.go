package build

// Operators on two tensors of one type, broadcast as in numpy. To use a number as an
// operand, write f.Scalar(0.5).

// Add returns x + y.
func (f *Func) Add(x, y Value) Value { return f.binary("add", x, y) }

// Sub returns x - y.
func (f *Func) Sub(x, y Value) Value { return f.binary("sub", x, y) }

// Mul returns x * y.
func (f *Func) Mul(x, y Value) Value { return f.binary("mul", x, y) }

// RealDiv returns x / y.
func (f *Func) RealDiv(x, y Value) Value { return f.binary("real_div", x, y) }

// Pow returns x to the power of y.
func (f *Func) Pow(x, y Value) Value { return f.binary("pow", x, y) }

// Maximum returns the larger of x and y.
func (f *Func) Maximum(x, y Value) Value { return f.binary("maximum", x, y) }

// Minimum returns the smaller of x and y.
func (f *Func) Minimum(x, y Value) Value { return f.binary("minimum", x, y) }

func (f *Func) binary(kind string, x, y Value) Value {
	return f.call(kind).value("x", x).value("y", y).one()
}
