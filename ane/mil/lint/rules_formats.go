package lint

import (
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/ops"
)

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
