package lint

import (
	"slices"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/ops"
)

// blocks returns the axes along which the scale of a blockwise operator changes within the data.
func blocks(s *ops.Node) (axes []int, data *ops.Value) {
	data, scale := s.Value("data"), s.Value("scale")
	if data == nil || scale == nil || len(data.Shape) != len(scale.Shape) {
		return nil, data
	}
	for i, n := range scale.Shape {
		if n > 1 && i > 0 {
			axes = append(axes, i)
		}
		if i == 0 && n > 1 && n != data.Shape[0] {
			axes = append(axes, i)
		}
	}
	return axes, data
}

func checkBlocks(c *check, s *ops.Node) {
	if axes, _ := blocks(s); len(axes) > 0 {
		c.error(s.Op.Pos, "", "the scale changes along axes %v", axes)
	}
}

func narrow(d mil.DType) bool { return d == mil.Int4 || d == mil.UInt4 }

func checkInt4(c *check, f *function) {
	for _, v := range f.inputs {
		if narrow(v.DType) {
			c.error(v.Pos, "", "input %s is %v", cut(v.Name), v.DType)
		}
	}
	for _, s := range f.Statements {
		if s.Op.Kind == "const" || constexpr(s) {
			continue
		}
		taken := func(v *ops.Value) bool { return narrow(v.DType) && !parameter(v) }
		if list := s.Operands(); slices.ContainsFunc(list, taken) {
			c.error(s.Op.Pos, "", "%s takes %v", s.Op.Kind, list[slices.IndexFunc(list, taken)].DType)
		} else if i := slices.IndexFunc(s.Out, func(v *ops.Value) bool { return narrow(v.DType) }); i >= 0 {
			c.error(s.Op.Pos, "", "%s gives %v", s.Op.Kind, s.Out[i].DType)
		}
	}
}

func checkInt4Blocks(c *check, s *ops.Node) {
	axes, data := blocks(s)
	if allowed := c.spec.BlockInt4; allowed.Known() && !allowed.Value && len(axes) > 0 && narrow(data.DType) {
		c.error(s.Op.Pos, "", "%v weights with a scale that changes along axes %v", data.DType, axes)
	}
}

func checkVectors(c *check, s *ops.Node) {
	if lut := s.Value("lut"); lut != nil && len(lut.Shape) > 2 && lut.Shape[len(lut.Shape)-1] > 1 {
		c.error(s.Op.Pos, "", "a palette of vectors of %d", lut.Shape[len(lut.Shape)-1])
	}
}

func checkPalette3(c *check, s *ops.Node) {
	indices, lut := s.Value("indices"), s.Value("lut")
	old := lut != nil && len(lut.Shape) == 1 && lut.Shape[0] == 8
	if !c.spec.Palette3.Value && indices != nil && (indices.DType == mil.UInt3 || old) {
		c.note(s.Op.Pos, "", "a palette of 3 bits is stored with 4")
	}
}

// eightBit reports whether a convolution has activations and weights of 8 bits.
func eightBit(s *ops.Node) bool {
	return madeBy(s.Value("x"), "dequantize") &&
		madeBy(s.Value("weight"), "constexpr_blockwise_shift_scale", "constexpr_affine_dequantize")
}

func checkW8A8(c *check, s *ops.Node) {
	if pointwise(s) && eightBit(s) {
		c.note(s.Op.Pos, "", "a 1x1 convolution of 8-bit activations")
	}
}

func checkInt8Sum(c *check, s *ops.Node) {
	const most = 127 * 127
	if k := s.Inner(); eightBit(s) && k*most >= 1<<31 {
		c.warn(s.Op.Pos, "", "a sum of %d products of 8 bits reaches %d", k, k*most)
	}
}
