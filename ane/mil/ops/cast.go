package ops

import "github.com/anekit/anekit/ane/mil"

// casts convert between element types. Attrs is nil: the result has the type.
var casts = []Def{
	{Name: "cast", Params: []Param{tensor("x"), setting("dtype")}, infer: func(c *Call) {
		c.needs("x", storable...)
		var names []string
		for _, d := range storable {
			names = append(names, d.String())
		}
		x := c.tensor("x")
		to := mil.ParseDType(c.word("dtype", "", names...))
		if x.DType == mil.Int32 || to == mil.Int32 {
			c.notes = append(c.notes, "Apple's engine refuses int32 casts")
		}
		c.gives(to, x.Shape)
	}},
}
