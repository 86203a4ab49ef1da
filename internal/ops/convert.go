package ops

import (
	"slices"

	"github.com/anekit/anekit/ane/mil"
)

// conversions change the type of elements. Attrs of cast is nil: the result has the type. Attrs of the others is a
// Quantization.
var conversions = []*Def{
	{Name: "cast", Doc: "converts x to elements of type dtype", Cost: Moves, limits: castLimits,
		Params: []*Param{tensor("x", slices.Concat(writable, []mil.DType{mil.FP64, mil.BF16, mil.Int64, mil.UInt64})...),
			types("dtype", writable...)}, infer: func(c *Call, x *Value) {
			to := c.dtype("dtype")
			refused := func(d mil.DType) bool { return d == mil.Int32 || !slices.Contains(storable, d) }
			if refused(x.DType) || refused(to) {
				c.note("in memory an M3 Pro refuses casts of " + x.DType.String() + " to " + to.String() + ", and by e5 an M5")
			}
			c.gives(nil, to, x.Shape)
		}},
	{Name: "quantize", Since: 17, Params: []*Param{tensor("input", floats...), tensor("scale"),
		tensor("zero_point").any().optional(), integer("axis").optional(), types("output_dtype", byteTypes...)},
		infer: func(c *Call, x *Value) {
			d := c.dtype("output_dtype")
			if z := c.Value("zero_point"); z != nil && z.DType != d {
				c.refuse("zero_point", "give it in output_dtype", "zero_point is %s but output_dtype is %s", z.DType, d)
			}
			c.gives(c.perAxis(x), d, x.Shape)
		}},
	{Name: "dequantize", Since: 17, Params: []*Param{tensor("input", byteTypes...), tensor("scale", floats...),
		tensor("zero_point").optional(), integer("axis").optional()}, infer: func(c *Call, x *Value) {
		c.gives(c.perAxis(x), c.Value("scale").DType, x.Shape)
	}},
}

var writable = slices.Concat(storable, tiny)

// Quantization holds the settings of quantize, dequantize and constexpr_affine_dequantize.
type Quantization struct {
	Axis int // of scale and zero point that are vectors; the others have one number for all elements
}

// perAxis checks scale, zero_point and axis: both are scalars, or vectors along the axis.
func (c *Call) perAxis(x *Value) Quantization {
	scale, zero := c.Value("scale"), c.Value("zero_point")
	axis := 0
	if given := c.Value("axis") != nil; given && x.Rank() > 0 {
		axis = c.axis("axis", x.Rank())
	} else if scale.Rank() > 0 {
		c.refuse("", "add axis = int32(..)", "axis is missing for a vector of scales")
	}
	c.along("scale", x, axis)
	if zero != nil {
		c.along("zero_point", x, axis)
		c.refuseIf(zero.Rank() != scale.Rank(), "zero_point", "give as many as scales",
			"shape %v for scale%v", zero.Shape, scale.Shape)
	}
	return Quantization{Axis: axis}
}

// along checks a scalar, or a vector with an element for each index of an axis of x.
func (c *Call) along(name string, x *Value, axis int) {
	switch v := c.Value(name); {
	case v.Rank() == 0:
	case v.Rank() > 1 || x.Rank() == 0:
		c.refuse(name, "give one number, or a vector along the axis", "shape %v", v.Shape)
	case v.Shape[0] != x.Shape[axis]:
		c.refuse(name, "give one number for each index of the axis", "%d numbers for axis %d of x%v", v.Shape[0], axis,
			x.Shape)
	}
}

// buffers convert between a tensor and a tensor_buffer, which says where a surface has its elements. Attrs is nil: both
// have the same elements here.
var buffers = []*Def{
	{Name: "tensor_buffer_to_tensor", Since: 17, Doc: "reads a tensor from a buffer",
		Params: []*Param{tensor("input", storable...).buffer()}, infer: func(c *Call, x *Value) {
			c.refuseIf(!x.buffered(), "input", "give a tensor_buffer", "%s is no tensor_buffer", x.Type())
			c.gives(nil, x.DType, x.Shape)
		}},
	{Name: "tensor_to_tensor_buffer", Since: 17, infer: inferBuffer,
		Doc: "puts a tensor into a buffer with strides, in elements, and interleaveFactors for each axis",
		Params: []*Param{tensor("input", storable...), integers("interleave_factors").of(mil.UInt8).optional(),
			integers("strides").of(mil.Int64).optional()}},
}

func inferBuffer(c *Call, x *Value) {
	t := mil.TensorOf(x.DType, x.Shape...)
	t.Kind, t.Buffer = mil.TensorBuffer, &mil.Buffer{}
	if c.Value("strides") != nil {
		t.Buffer.Strides = c.ints("strides", x.Rank())
	}
	if c.Value("interleave_factors") != nil {
		t.Buffer.Interleave = c.ints("interleave_factors", x.Rank())
	}
	c.gives(nil, x.DType, x.Shape)
	out := c.Out[0]
	out.Written = &t
}

// buffered reports whether the program writes the value as a tensor_buffer.
func (v *Value) buffered() bool { return v.Written != nil && v.Written.Kind == mil.TensorBuffer }
