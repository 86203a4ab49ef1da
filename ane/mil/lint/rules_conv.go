package lint

import (
	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/ops"
)

func checkRewritten(c *check, s *ops.Node) {
	from := c.spec.RewrittenFrom
	if h, w, ok := s.Kernel(); ok && from.Known() && w >= from.Value && w <= c.spec.KernelWidth.Value {
		c.note(s.Op.Pos, "", "kernel %dx%d: widths from %d are rewritten to stride 2", h, w, from.Value)
	}
}

func checkGroups(c *check, s *ops.Node) {
	x, w := s.Value("x"), s.Value("weight")
	if x == nil || w == nil || len(x.Shape) < 3 || len(w.Shape) < 3 {
		return
	}
	g, in, out := s.Int("groups", 1), x.Shape[1], w.Shape[0]
	if g < 1 || in%g != 0 || out%g != 0 {
		c.error(s.Op.Pos, "", "%d groups do not divide %d input and %d output channels", g, in, out)
	}
}

func checkDynamicIgnored(c *check, s *ops.Node) {
	switch w := s.Value("weight"); {
	case w == nil || w.Folded:
	case c.on(chip.M3):
		c.error(s.Op.Pos, "", "the weight is computed: the chip ignores it")
	default:
		c.warn(s.Op.Pos, "", "the weight is computed: an M3 Max ignores it, and no other chip is known to use it "+
			"with this compiler")
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
