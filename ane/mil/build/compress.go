package build

import "github.com/anekit/anekit/ane/mil"

// Quantized elements, and constants in a shorter form. Operands of the Constexpr methods are constants, weights, and
// results of other Constexpr methods.

// Axis is the axis along which scale and zero point are vectors.
type Axis int

// ZeroPoint is the integer that stands for 0, of the type of the integers. The default is 0.
type ZeroPoint Value

func (a Axis) set(c *call)      { c.put("axis", int(a)) }
func (z ZeroPoint) set(c *call) { c.put("zero_point", Value(z)) }

// Quantize returns round(x / scale) + zero point as integers of type d, which is int8 or uint8, clamped to its range.
// scale is a number of the type of x, or a vector along an Axis.
func (f *Func) Quantize(x, scale Value, d mil.DType, options ...Optional) Value {
	return f.plain("quantize", x, scale, nil, nil, d, options)
}

// Dequantize returns scale * (x - zero point), of the type of scale.
func (f *Func) Dequantize(x, scale Value, options ...Optional) Value {
	return f.plain("dequantize", x, scale, options)
}

// Offset is subtracted from the data before the scale is applied. It has the shape of the scale.
type Offset Value

func (o Offset) set(c *call) { c.put("offset", Value(o)) }

// ConstexprBlockwiseShiftScale returns scale * (data - offset). scale has as many axes as data; each axis of data is a
// multiple of that of scale, which has an element for each block. The last of several offsets applies.
func (f *Func) ConstexprBlockwiseShiftScale(data, scale Value, offset ...Offset) Value {
	return f.plain("constexpr_blockwise_shift_scale", data, scale, each(offset))
}

// VectorAxis is the axis along which the elements of one entry of a table lie.
type VectorAxis int

// PackedShape is the shape of the result where indexes or a mask are bits in a vector of bytes: the form before opset
// ios18.
type PackedShape []int

func (a VectorAxis) set(c *call)  { c.put("vector_axis", int(a)) }
func (s PackedShape) set(c *call) { c.put("shape", []int(s)) }

// ConstexprLutToDense looks elements up: lut has the shape of indices in groups, then an axis of entries, then one of
// the elements of an entry.
func (f *Func) ConstexprLutToDense(indices, lut Value, options ...Optional) Value {
	return f.plain("constexpr_lut_to_dense", indices, lut, options)
}

// ConstexprSparseToDense returns nonzero, a vector, at the places where mask is set, and zeros elsewhere.
func (f *Func) ConstexprSparseToDense(nonzero, mask Value, shape ...PackedShape) Value {
	return f.plain("constexpr_sparse_to_dense", nonzero, mask, each(shape))
}

// ConstexprLutToSparse is ConstexprLutToDense for the elements where mask is set. It returns the mask of the result and
// its elements, for ConstexprSparseToDense.
func (f *Func) ConstexprLutToSparse(mask, indices, lut Value, axis ...VectorAxis) (outMask, nonzero Value) {
	return f.call("constexpr_lut_to_sparse", mask, indices, lut, each(axis)).two()
}

// ConstexprSparseBlockwiseShiftScale is ConstexprBlockwiseShiftScale for the elements where mask is set. It returns the
// mask and the elements, for ConstexprSparseToDense.
func (f *Func) ConstexprSparseBlockwiseShiftScale(mask, nonzero, scale Value, offset ...Offset) (outMask, data Value) {
	return f.call("constexpr_sparse_blockwise_shift_scale", mask, nonzero, scale, each(offset)).two()
}
