package ops

import (
	"github.com/anekit/anekit/ane/mil"
)

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
