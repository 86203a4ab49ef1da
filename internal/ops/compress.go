package ops

import (
	"math/bits"
	"slices"

	"github.com/anekit/anekit/ane/mil"
)

// compressions make constants from a shorter form. Attrs is a Palette for those with a lut, a Sparse for
// constexpr_sparse_to_dense, else nil.
var compressions = []*Def{
	{Name: "constexpr_cast", Doc: "returns a constant of floating-point type as elements of type outputDtype",
		Params: []*Param{known("source_val", append([]mil.DType{mil.BF16, mil.FP64}, floats...)...),
			types("output_dtype", floats...)}, infer: func(c *Call, x *Value) {
			c.gives(nil, c.dtype("output_dtype"), x.Shape)
		}},
	{Name: "constexpr_affine_dequantize", support: support{contested: "weights as fp16 run everywhere"},
		Doc: "returns scale * (quantizedData - zeroPoint). Those two are numbers, or vectors along axis",
		Params: []*Param{known("quantized_data", byteTypes...), known("scale", floats...),
			known("zero_point", mil.Int8, mil.UInt8, mil.FP32), integer("axis")}, infer: func(c *Call, x *Value) {
			if c.Value("zero_point").DType != mil.FP32 {
				c.sameType("quantized_data", "zero_point")
			}
			axis := c.axis("axis", x.Rank())
			c.along("scale", x, axis)
			c.along("zero_point", x, axis)
			c.gives(Quantization{Axis: axis}, c.Value("scale").DType, x.Shape)
		}},
	{Name: "constexpr_blockwise_shift_scale", Since: 18, limits: blockLimits,
		support: support{contested: "weights as fp16 run everywhere"},
		Params: []*Param{known("data", append(shiftTypes, wideTypes...)...), known("scale", floats...),
			known("offset").any().optional()}, infer: func(c *Call, x *Value) {
			if slices.Contains(wideTypes, x.DType) {
				c.note("Apple's operator has no data of " + x.DType.String() + ", only of 4 and 8 bits")
			}
			c.blocks(x.DType, x.Shape)
			c.gives(nil, c.Value("scale").DType, x.Shape)
		}},
	{Name: "constexpr_lut_to_dense", limits: paletteLimits, Params: []*Param{known("indices", indexTypes...),
		known("lut", tableTypes...).deep(), integers("shape").optional().of(mil.UInt32),
		integer("vector_axis").optional()},
		infer: inferPalette},
	{Name: "constexpr_sparse_to_dense", Params: []*Param{known("nonzero_data", shiftTypes...), known("mask").any(),
		integers("shape").optional().of(mil.UInt32)}, infer: inferSparse},
	{Name: "constexpr_lut_to_sparse", Since: 18, Params: []*Param{known("indices_mask", mil.UInt1),
		known("indices_nonzero_data", indexTypes...), known("lut", tableTypes...).deep(),
		integer("vector_axis").optional()}, infer: func(c *Call, mask *Value) {
		data := c.Value("indices_nonzero_data")
		c.sparse("indices_nonzero_data", "indices_mask")
		shape, p := c.palettes(mask.Shape, data.DType)
		c.gives(p, mil.UInt1, shape)
		c.gives(p, c.Value("lut").DType, []int{data.Shape[0] * p.Vector})
	}},
	{Name: "constexpr_sparse_blockwise_shift_scale", Since: 18, Params: []*Param{known("data_mask", mil.UInt1),
		known("nonzero_data", shiftTypes...), known("scale", floats...), known("offset").any().optional()},
		infer: func(c *Call, mask *Value) {
			data := c.Value("nonzero_data")
			c.sparse("nonzero_data", "data_mask")
			c.blocks(data.DType, mask.Shape)
			c.gives(nil, mil.UInt1, mask.Shape)
			c.gives(nil, c.Value("scale").DType, data.Shape)
		}},
}

var (
	shiftTypes = []mil.DType{mil.Int4, mil.UInt4, mil.Int8, mil.UInt8, mil.FP16, mil.FP32}
	wideTypes  = []mil.DType{mil.UInt2, mil.UInt3, mil.UInt6} // that only software engines take
	indexTypes = []mil.DType{mil.UInt1, mil.UInt2, mil.UInt3, mil.UInt4, mil.UInt6, mil.UInt8}
	tableTypes = []mil.DType{mil.Int8, mil.UInt8, mil.FP16, mil.FP32}
)

// Palette holds the settings of the operators that look elements up.
type Palette struct {
	Packed int // bits of an index in packed bytes; 0 for indexes of a type of their own
	Vector int // elements of an entry of the table
	Axis   int // along which the elements of an entry lie
}

// Sparse holds the settings of constexpr_sparse_to_dense.
type Sparse struct {
	Packed bool // the mask has bits in bytes, not elements of uint1
}

// blocks checks scale and offset of blocks of elements: each axis of shape is a multiple of theirs.
func (c *Call) blocks(d mil.DType, shape []int) {
	c.fits("scale", shape, c.Value("scale").Shape)
	offset := c.Value("offset")
	if offset == nil {
		return
	}
	c.refuseIf(
		!offset.DType.Float() && offset.DType != d || offset.DType.Float() && !slices.Contains(floats, offset.DType),
		"offset", "give it in the type of the data, or as fp16", "offset is %s but the data is %s", offset.DType, d)
	c.shaped("offset", c.Value("scale").Shape, "give as many as scales", "shape %v for scale%v",
		c.Value("scale").Shape)
}

// fits checks that each axis of shape is a multiple of the same axis of an argument, which has blocks of equal size.
func (c *Call) fits(name string, shape, blocks []int) {
	c.refuseIf(len(blocks) != len(shape) || len(shape) == 0, name, "give a number of blocks for each axis",
		"%d axes for the %d of shape %v", len(blocks), len(shape), shape)
	for i, n := range shape {
		c.refuseIf(n%blocks[i] != 0, name, "cut the axis into equal blocks", "%d blocks for axis %d of shape %v",
			blocks[i], i, shape)
	}
}

// inferPalette takes two forms: indexes packed into bytes with the shape of the result, and a tensor of indexes.
func inferPalette(c *Call, indices *Value) {
	lut := c.Value("lut")
	if c.Value("shape") == nil {
		shape, p := c.palettes(indices.Shape, indices.DType)
		c.gives(p, lut.DType, shape)
		return
	}
	shape := c.volume("shape")
	c.refuseIf(c.Value("vector_axis") != nil, "vector_axis", "remove it, or give indices as a tensor without shape",
		"with packed indices")
	c.refuseIf(lut.Rank() != 1 || !slices.Contains([]int{2, 4, 16, 64, 256}, lut.Shape[0]), "lut",
		"give a vector of 2, 4, 16, 64 or 256", "shape %v", lut.Shape)
	width := bits.Len(uint(lut.Shape[0])) - 1
	need := mil.TensorOf(mil.UInt8, (Volume(shape)*width+7)/8)
	c.refuseIf(!indices.Type().Same(need), "indices", "pack them from the low bits up: "+need.String(),
		"%s for %d indexes of %d bits", indices.Type(), Volume(shape), width)
	c.gives(Palette{Packed: width, Vector: 1}, lut.DType, shape)
}

// palettes checks lut: [groups.., entries, elements of an entry]. It returns the shape of the result for indexes of the
// given shape.
func (c *Call) palettes(shape []int, index mil.DType) ([]int, Palette) {
	lut := c.Value("lut")
	k := len(shape)
	c.refuseIf(lut.Rank() != k+2 || k == 0, "lut", "give groups for each axis, then entries, then elements of an entry",
		"%d axes for indexes of shape %v", lut.Rank(), shape)
	c.fits("lut", shape, lut.Shape[:k])
	n := 1 << index.Bits()
	c.refuseIf(lut.Shape[k] != n, "lut", "make its last axis but one that long", "%d entries where %s counts %d",
		lut.Shape[k], index, n)
	p := Palette{Vector: lut.Shape[k+1]}
	c.refuseIf(c.Value("vector_axis") == nil && p.Vector > 1, "", "add vector_axis = int32(..)",
		"vector_axis is missing for entries of %d elements", p.Vector)
	p.Axis = c.axis("vector_axis", k)
	return with(shape, p.Axis, min(shape[p.Axis]*p.Vector, MaxElements+1)), p // gives refuses more
}

// inferSparse takes two forms: a mask packed into bytes with the shape of the result, and a mask of uint1.
func inferSparse(c *Call, data *Value) {
	mask := c.Value("mask")
	if c.Value("shape") == nil {
		c.sparse("nonzero_data", "mask")
		c.gives(Sparse{}, data.DType, mask.Shape)
		return
	}
	shape := c.volume("shape")
	need := mil.TensorOf(mil.UInt8, (Volume(shape)+7)/8)
	c.refuseIf(!mask.Type().Same(need), "mask", "pack its bits from the low ones up: "+need.String(),
		"%s for %d elements", mask.Type(), Volume(shape))
	c.refuseIf(data.Rank() != 1, "nonzero_data", "give a vector", "shape %v", data.Shape)
	if used := Volume(shape) % 8; used != 0 && mask.Data != nil {
		c.refuseIf(mask.Data[len(mask.Data)-1]>>used != 0, "mask", "clear the bits after the last element",
			"it has more bits than %d elements", Volume(shape))
	}
	c.counted("nonzero_data", "mask")
	c.gives(Sparse{Packed: true}, data.DType, shape)
}

// volume returns the shape that a setting gives.
func (c *Call) volume(name string) []int {
	shape := c.ints(name, -1)
	c.refuseIf(len(shape) == 0 || len(shape) > c.maxRank() || !sensible(shape), name,
		"give 1 to 5 axes of at least 1", "shape %s", few(shape))
	return shape
}

// sparse checks a vector of the elements where a mask of uint1 is set.
func (c *Call) sparse(data, mask string) {
	c.needs(mask, mil.UInt1)
	d, m := c.Value(data), c.Value(mask)
	c.refuseIf(d.Rank() != 1, data, "give a vector", "shape %v", d.Shape)
	c.refuseIf(m.Rank() == 0, mask, "give it the shape of the result", "a scalar")
	c.counted(data, mask)
}

// counted compares the length of the data with the number of set bits of a mask that is known: the program is valid
// only for this mask.
func (c *Call) counted(data, mask string) {
	n, m, set := c.Value(data).Shape[0], c.Value(mask), 0
	for _, b := range m.Data {
		set += bits.OnesCount8(b)
	}
	c.refuseIf(m.Data != nil && n != set, data, "give an element for each set bit of the mask",
		"%d elements, %s has %d bits set", n, mask, set)
	m.take()
}
