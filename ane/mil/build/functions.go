package build

// More operators on every element of one tensor.

// Ceil rounds up to a whole number.
func (f *Func) Ceil(x Value) Value { return f.unary("ceil", x) }

// Floor rounds down to a whole number.
func (f *Func) Floor(x Value) Value { return f.unary("floor", x) }

// Round rounds to the nearest whole number, halves to the even one.
func (f *Func) Round(x Value) Value { return f.unary("round", x) }

// Sign returns -1, 0 or 1.
func (f *Func) Sign(x Value) Value { return f.unary("sign", x) }

// Square returns x * x.
func (f *Func) Square(x Value) Value { return f.unary("square", x) }

// Exp2 returns 2 to the power of x.
func (f *Func) Exp2(x Value) Value { return f.unary("exp2", x) }

// Erf returns the error function.
func (f *Func) Erf(x Value) Value { return f.unary("erf", x) }

// Neg returns -x. Apple's engine does not run it: multiply by -1.
func (f *Func) Neg(x Value) Value { return f.unary("neg", x) }

// Sin returns the sine of an angle in radians.
func (f *Func) Sin(x Value) Value { return f.unary("sin", x) }

// Cos returns the cosine of an angle in radians.
func (f *Func) Cos(x Value) Value { return f.unary("cos", x) }

// Tan returns the tangent of an angle in radians. Apple's engine does not run it.
func (f *Func) Tan(x Value) Value { return f.unary("tan", x) }

// Asin returns the inverse of Sin. Apple's engine does not run it.
func (f *Func) Asin(x Value) Value { return f.unary("asin", x) }

// Acos returns the inverse of Cos. Apple's engine does not run it.
func (f *Func) Acos(x Value) Value { return f.unary("acos", x) }

// Atan returns the inverse of Tan.
func (f *Func) Atan(x Value) Value { return f.unary("atan", x) }

// Sinh returns the hyperbolic sine. Apple's engine does not run it.
func (f *Func) Sinh(x Value) Value { return f.unary("sinh", x) }

// Cosh returns the hyperbolic cosine. Apple's engine does not run it.
func (f *Func) Cosh(x Value) Value { return f.unary("cosh", x) }

// Asinh returns the inverse of Sinh. Apple's engine does not run it.
func (f *Func) Asinh(x Value) Value { return f.unary("asinh", x) }

// Acosh returns the inverse of Cosh. Apple's engine does not run it.
func (f *Func) Acosh(x Value) Value { return f.unary("acosh", x) }

// Atanh returns the inverse of Tanh. Apple's engine does not run it.
func (f *Func) Atanh(x Value) Value { return f.unary("atanh", x) }

// Log returns the natural logarithm of x + epsilon.
func (f *Func) Log(x Value, epsilon float64) Value {
	return f.call("log").value("x", x).number("epsilon", epsilon, x).one()
}

// Inverse returns 1 / (x + epsilon).
func (f *Func) Inverse(x Value, epsilon float64) Value {
	return f.call("inverse").value("x", x).number("epsilon", epsilon, x).one()
}

// LogicalNot returns the opposite of truth values.
func (f *Func) LogicalNot(x Value) Value { return f.unary("logical_not", x) }

// Identity returns x.
func (f *Func) Identity(x Value) Value { return f.unary("identity", x) }
