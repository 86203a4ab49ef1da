package ops

import (
	"slices"

	"github.com/anekit/anekit/ane/mil"
)

// casts convert between element types. Attrs is nil: the result has the type.
var casts = []Def{
	{Name: "cast", Cost: Moves, limits: castLimits,
		Params: []Param{tensor("x"), setting("dtype")}, infer: func(c *Call) {
			c.needs("x", readable...)
			x := c.tensor("x")
			to := c.dtype("dtype", writable...)
			switch {
			case x.DType == mil.Int32 || to == mil.Int32:
				c.notes = append(c.notes, "Apple's engine refuses int32 casts")
			case !slices.Contains(storable, x.DType) || !slices.Contains(storable, to):
				c.notes = append(c.notes, "Apple's engine refuses casts of "+x.DType.String()+" to "+to.String())
			}
			c.gives(to, x.Shape)
		}},
	{Name: "constexpr_cast", Family: Constexprs, Cost: Free,
		Params: []Param{known("source_val"), setting("output_dtype")}, infer: func(c *Call) {
			c.needs("source_val", append([]mil.DType{mil.BF16, mil.FP64}, floats...)...)
			c.gives(c.dtype("output_dtype", floats...), c.tensor("source_val").Shape)
		}},
}

var (
	// tiny are the integers below 8 bits. Only constants have them.
	tiny = []mil.DType{mil.Int1, mil.Int2, mil.Int3, mil.Int4, mil.Int6, mil.UInt1, mil.UInt2, mil.UInt3, mil.UInt4,
		mil.UInt6}
	writable = slices.Concat(storable, tiny)
	readable = slices.Concat(writable, []mil.DType{mil.FP64, mil.BF16, mil.Int64, mil.UInt64})
)

// dtype returns the type that a setting names.
func (c *Call) dtype(name string, types ...mil.DType) mil.DType {
	var names []string
	for _, d := range types {
		names = append(names, d.String())
	}
	return mil.ParseDType(c.word(name, "", names...))
}
