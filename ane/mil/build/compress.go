package build

import "github.com/anekit/anekit/ane/mil"

// Quantized elements, and constants in a shorter form. Operands of the Constexpr methods are constants, weights, and
// results of other Constexpr methods.

// QuantizeOption is Axis or ZeroPoint.
type QuantizeOption interface{ quantize(*quantization) }

// Axis is the axis along which scale and zero point are vectors.
type Axis int

// ZeroPoint is the integer that stands for 0, of the type of the integers. The default is 0.
type ZeroPoint Value

func (a Axis) quantize(q *quantization)      { q.axis = &a }
func (z ZeroPoint) quantize(q *quantization) { q.zero = &z }

type quantization struct {
	axis *Axis
	zero *ZeroPoint
}

// Quantize returns round(x / scale) + zero point as integers of type d, which is int8 or uint8, clamped to its range.
// scale is a number of the type of x, or a vector along an Axis.
func (f *Func) Quantize(x, scale Value, d mil.DType, options ...QuantizeOption) Value {
	return f.quantized("quantize", x, scale, options).word("output_dtype", d.String()).one()
}

// Dequantize returns scale * (x - zero point), of the type of scale.
func (f *Func) Dequantize(x, scale Value, options ...QuantizeOption) Value {
	return f.quantized("dequantize", x, scale, options).one()
}

func (f *Func) quantized(kind string, x, scale Value, options []QuantizeOption) *call {
	var q quantization
	for _, o := range given(options) {
		o.quantize(&q)
	}
	c := f.call(kind).value("input", x).value("scale", scale)
	if q.axis != nil {
		c.int("axis", int(*q.axis))
	}
	if q.zero != nil {
		c.value("zero_point", Value(*q.zero))
	}
	return c
}

// ConstexprCast returns a constant of floating-point type as elements of type d.
func (f *Func) ConstexprCast(x Value, d mil.DType) Value {
	return f.call("constexpr_cast").value("source_val", x).word("output_dtype", d.String()).one()
}

// ConstexprAffineDequantize returns scale * (data - zeroPoint). Those two are numbers, or vectors along axis.
func (f *Func) ConstexprAffineDequantize(data, scale, zeroPoint Value, axis int) Value {
	return f.call("constexpr_affine_dequantize").value("quantized_data", data).value("scale", scale).
		value("zero_point", zeroPoint).int("axis", axis).one()
}

// Offset is subtracted from the data before the scale is applied. It has the shape of the scale.
type Offset Value

// ConstexprBlockwiseShiftScale returns scale * (data - offset). scale has as many axes as data; each axis of data is a
// multiple of that of scale, which has an element for each block.
func (f *Func) ConstexprBlockwiseShiftScale(data, scale Value, offset ...Offset) Value {
	c := f.call("constexpr_blockwise_shift_scale").value("data", data).value("scale", scale)
	return c.offset(offset).one()
}

// offset adds the last of several offsets.
func (c *call) offset(list []Offset) *call {
	if n := len(list); n > 0 {
		c.value("offset", Value(list[n-1]))
	}
	return c
}

// PaletteOption is VectorAxis or PackedShape.
type PaletteOption interface{ palette(*call) }

// VectorAxis is the axis along which the elements of one entry of a table lie.
type VectorAxis int

// PackedShape is the shape of the result where indexes or a mask are bits in a vector of bytes: the form before opset
// ios18.
type PackedShape []int

func (a VectorAxis) palette(c *call) { c.int("vector_axis", int(a)) }
func (s PackedShape) palette(c *call) {
	if !c.empty("shape", len(s)) {
		c.setting("shape", []int(s), mil.Ints(mil.TensorOf(mil.UInt32, len(s)), s))
	}
}

// ConstexprLutToDense looks elements up: lut has the shape of indices in groups, then an axis of entries, then one of
// the elements of an entry.
func (f *Func) ConstexprLutToDense(indices, lut Value, options ...PaletteOption) Value {
	c := f.call("constexpr_lut_to_dense").value("indices", indices).value("lut", lut)
	for _, o := range given(options) {
		o.palette(c)
	}
	return c.one()
}

// ConstexprSparseToDense returns nonzero, a vector, at the places where mask is set, and zeros elsewhere.
func (f *Func) ConstexprSparseToDense(nonzero, mask Value, shape ...PackedShape) Value {
	c := f.call("constexpr_sparse_to_dense").value("nonzero_data", nonzero).value("mask", mask)
	for _, s := range shape {
		s.palette(c)
	}
	return c.one()
}

// ConstexprLutToSparse is ConstexprLutToDense for the elements where mask is set. It returns the mask of the result and
// its elements, for ConstexprSparseToDense.
func (f *Func) ConstexprLutToSparse(mask, indices, lut Value, axis ...VectorAxis) (outMask, nonzero Value) {
	c := f.call("constexpr_lut_to_sparse").value("indices_mask", mask).value("indices_nonzero_data", indices).
		value("lut", lut)
	for _, a := range axis {
		a.palette(c)
	}
	out := c.many(2)
	return out[0], out[1]
}

// ConstexprSparseBlockwiseShiftScale is ConstexprBlockwiseShiftScale for the elements where mask is set. It returns the
// mask and the elements, for ConstexprSparseToDense.
func (f *Func) ConstexprSparseBlockwiseShiftScale(mask, nonzero, scale Value, offset ...Offset) (outMask, data Value) {
	c := f.call("constexpr_sparse_blockwise_shift_scale").value("data_mask", mask).value("nonzero_data", nonzero).
		value("scale", scale)
	out := c.offset(offset).many(2)
	return out[0], out[1]
}
