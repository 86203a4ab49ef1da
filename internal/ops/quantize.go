package ops

import "github.com/anekit/anekit/ane/mil"

// quantization converts between numbers and integers that stand for them. Attrs is a Quantization.
var quantization = []Def{
	{Name: "quantize", Since: 17,
		Params: []Param{tensor("input"), tensor("scale"), perhaps("zero_point"), option("axis"),
			setting("output_dtype")}, infer: func(c *Call) {
			c.needs("input", floats...)
			c.needs("scale", floats...)
			c.sameType("input", "scale")
			d := c.dtype("output_dtype", byteTypes...)
			if z := c.tensor("zero_point"); z != nil && z.DType != d && !c.failed() {
				c.fail("zero_point", "give it in output_dtype", "zero_point is %s but output_dtype is %s", z.DType, d)
			}
			c.perAxis("input")
			c.gives(d, c.tensor("input").Shape)
		}},
	{Name: "dequantize", Since: 17,
		Params: []Param{tensor("input"), tensor("scale"), perhaps("zero_point"), option("axis")},
		infer: func(c *Call) {
			c.needs("input", byteTypes...)
			c.needs("scale", floats...)
			c.sameType("input", "zero_point")
			c.perAxis("input")
			c.gives(c.tensor("scale").DType, c.tensor("input").Shape)
		}},
	{Name: "constexpr_affine_dequantize", Family: Constexprs, Cost: Free,
		support: support{contested: "weights as fp16 run everywhere"},
		Params: []Param{known("quantized_data"), known("scale"), known("zero_point"),
			setting("axis")}, infer: func(c *Call) {
			c.needs("quantized_data", byteTypes...)
			c.needs("scale", floats...)
			c.needs("zero_point", mil.Int8, mil.UInt8, mil.FP32)
			if z := c.tensor("zero_point"); z.DType != mil.FP32 {
				c.sameType("quantized_data", "zero_point")
			}
			x := c.tensor("quantized_data")
			axis := c.axis("axis", x.Rank(), 0)
			for _, name := range []string{"scale", "zero_point"} {
				c.along(name, x, axis)
			}
			c.attrs = Quantization{Axis: axis}
			c.gives(c.tensor("scale").DType, x.Shape)
		}},
}

// byteTypes are the types of quantized elements.
var byteTypes = []mil.DType{mil.Int8, mil.UInt8}

// Quantization holds the settings of quantize, dequantize and constexpr_affine_dequantize.
type Quantization struct {
	Axis int // of scale and zero point that are vectors; the others have one number for all elements
}

// perAxis checks scale, zero_point and axis: both are scalars, or vectors along the axis.
func (c *Call) perAxis(input string) {
	x, scale, zero := c.tensor(input), c.tensor("scale"), c.tensor("zero_point")
	axis := 0
	if given := c.tensor("axis") != nil; given && x.Rank() > 0 {
		axis = c.axis("axis", x.Rank(), 0)
	} else if scale.Rank() > 0 {
		c.fail("", "add axis = int32(..)", "axis is missing for a vector of scales")
		return
	}
	c.along("scale", x, axis)
	if zero != nil {
		c.along("zero_point", x, axis)
		if zero.Rank() != scale.Rank() && !c.failed() {
			c.fail("zero_point", "give as many as scales", "shape %v for scale%v", zero.Shape, scale.Shape)
		}
	}
	c.attrs = Quantization{Axis: axis}
}

// along checks a scalar, or a vector with an element for each index of an axis of x.
func (c *Call) along(name string, x *Value, axis int) {
	if c.failed() {
		return
	}
	switch v := c.tensor(name); {
	case v.Rank() == 0:
	case v.Rank() > 1 || x.Rank() == 0:
		c.fail(name, "give one number, or a vector along the axis", "shape %v", v.Shape)
	case v.Shape[0] != x.Shape[axis]:
		c.fail(name, "give one number for each index of the axis", "%d numbers for axis %d of x%v", v.Shape[0], axis,
			x.Shape)
	}
}
