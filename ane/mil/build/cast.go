package build

import "github.com/anekit/anekit/ane/mil"

// Cast converts x to elements of type d.
func (f *Func) Cast(x Value, d mil.DType) Value {
	return f.call("cast").value("x", x).word("dtype", d.String()).one()
}
