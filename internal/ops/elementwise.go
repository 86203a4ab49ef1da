package ops

import (
	"github.com/anekit/anekit/ane/mil"
)

// elementwise operators combine two tensors of one type, broadcast as numpy
// does. Attrs is nil.
var elementwise = []Def{
	arithmetic("add", numerics), arithmetic("sub", numerics), arithmetic("mul", numerics),
	arithmetic("real_div", numerics), arithmetic("pow", numerics),
	arithmetic("maximum", numerics), arithmetic("minimum", numerics), arithmetic("floor_div", numerics),
	arithmetic("mod", numerics).nowhere("write x - y * floor(x / y)"),
}

func arithmetic(name string, types []mil.DType) Def {
	return Def{Name: name, Params: []Param{tensor("x"), tensor("y")}, infer: func(c *Call) {
		c.needs("x", types...)
		c.needs("y", types...)
		c.sameType("x", "y")
		shape, d := c.broadcast("x", "y"), c.tensor("x").DType
		c.fp32(d)
		if name == "mod" {
			c.offEngine("")
		}
		c.gives(d, shape)
	}}
}

// Broadcast returns the shape of numpy broadcasting, false when the shapes do
// not fit.
func Broadcast(a, b []int) ([]int, bool) {
	n := max(len(a), len(b))
	out := make([]int, n)
	for i := range out {
		x, y := 1, 1
		if j := i - n + len(a); j >= 0 {
			x = a[j]
		}
		if j := i - n + len(b); j >= 0 {
			y = b[j]
		}
		if x != y && x != 1 && y != 1 {
			return nil, false
		}
		out[i] = max(x, y)
	}
	return out, true
}

// fp32 remarks that arithmetic outside fp16 is not known to run on a real
// engine: there fp32 exists only at the edges of a program.
func (c *Call) fp32(d mil.DType) {
	if d != mil.FP16 && !c.failed() {
		c.notes = append(c.notes, d.String()+" arithmetic is not known to run on Apple's engine; cast to fp16")
	}
}
