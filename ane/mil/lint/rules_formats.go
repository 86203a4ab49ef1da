package lint

import (
	"slices"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/mil"
)

// formatRules are about quantized weights and narrow types.
func formatRules() []Rule {
	return []Rule{
		{ID: "block-quantization", Severity: Error, placed: true, Title: "Weights have a scale for each block.",
			Reason: "The compiler answers ANE only support per-cout/per-tensor quantization.",
			Fix:    "give one scale for each output channel", Source: "ironmill (M); the int4 probes of a maderix " +
				"fork (M)",
			check: checkBlocks},
		{ID: "int4-operand", Severity: Error, placed: true, Title: "A 4-bit value is an input, a cast or an operand.",
			Reason: "The compiler answers CompilationFailure or InvalidMILProgram.",
			Fix:    "keep it in a constexpr operator",
			Source: "ironmill (M); the int4 probes of a maderix fork (M)", check: checkInt4},
		{ID: "int4-blocks", Severity: Error, each: true, placed: true,
			Title:  "A program for M6 has int4 weights with blocks.",
			Reason: "The compile fails, and Core ML runs the whole model on the CPU.", Fix: "use a palette or int8",
			Source: "study 7.5 (M)", check: checkInt4Blocks},
		{ID: "vector-palette", Severity: Error, each: true, placed: true,
			Title:  "A program for M6 has a palette of vectors.",
			Reason: "The compile fails, and Core ML runs the whole model on the CPU.", Fix: "use a palette of scalars",
			Source: "study 7.5 (M)", check: checkVectors},
		{ID: "palette-3bit", Severity: Note, each: true, Title: "Weights have a palette of 3 bits.",
			Reason: "Chips before M6 store it with 4 bits.", Fix: "use 4 bits there", Source: "study 15.3 (D)",
			check: checkPalette3},
		{ID: "w8a8-1x1", Severity: Note, each: true, Title: "A 1x1 convolution reads activations of 8 bits.",
			Reason: "On M6 the activations of a chain of them pass through memory: no faster than fp16 (B4).",
			Fix:    "quantize activations for 3x3 convolutions alone", Source: "study 15.4 (M)", check: checkW8A8},
		{ID: "int8-sum", Severity: Warning, Title: "A sum of 8-bit products can leave the range of its register.",
			Reason: "Sums of 2^31 and beyond become infinite.", Fix: "split the input channels",
			Source: "numerics of the study 8.3 (M)",
			check:  checkInt8Sum},
		{ID: "cast-type", Severity: Error, placed: true, Title: "cast converts to or from a type that the engine " +
			"does " +
			"not have.",
			Reason: "The compiler refuses int32 and 4-bit types.", Fix: "cast on the host",
			Source: "ironmill, forge (M); study (C)",
			check:  checkPlaced},
	}
}

// blocks returns the axes along which the scale of a blockwise operator changes within the data.
func blocks(s *stmt) (axes []int, data *value) {
	data, scale := s.in("data"), s.in("scale")
	if data == nil || scale == nil || len(data.shape) != len(scale.shape) {
		return nil, data
	}
	for i, n := range scale.shape {
		if n > 1 && i > 0 {
			axes = append(axes, i)
		}
		if i == 0 && n > 1 && n != data.shape[0] {
			axes = append(axes, i)
		}
	}
	return axes, data
}

func checkBlocks(c *check) {
	c.kinds(func(s *stmt) {
		if axes, _ := blocks(s); len(axes) > 0 {
			c.error(s.Pos, "", "the scale changes along axes %v", axes)
		}
	}, "constexpr_blockwise_shift_scale")
}

func narrow(d mil.DType) bool { return d == mil.Int4 || d == mil.UInt4 }

func checkInt4(c *check) {
	for _, f := range c.funcs {
		for _, v := range f.inputs {
			if narrow(v.dtype) {
				c.error(v.at, "", "input %s is %v", cut(v.name), v.dtype)
			}
		}
	}
	c.each(func(_ *function, s *stmt) {
		if s.constexpr() {
			return
		}
		for _, v := range s.tensors() {
			if narrow(v.dtype) && !v.input {
				c.error(s.Pos, "", "%s takes %v", s.Kind, v.dtype)
				return
			}
		}
		for _, v := range s.out {
			if narrow(v.dtype) {
				c.error(s.Pos, "", "%s gives %v", s.Kind, v.dtype)
				return
			}
		}
	})
}

func checkInt4Blocks(c *check) {
	if !c.spec.BlockInt4.Known() || c.spec.BlockInt4.Value {
		return
	}
	c.kinds(func(s *stmt) {
		if axes, data := blocks(s); data != nil && narrow(data.dtype) && len(axes) > 0 {
			c.error(s.Pos, "", "%v weights with a scale that changes along axes %v", data.dtype, axes)
		}
	}, "constexpr_blockwise_shift_scale")
}

func checkVectors(c *check) {
	if !c.on(chip.M6) {
		return
	}
	c.kinds(func(s *stmt) {
		if lut := s.in("lut"); lut != nil && len(lut.shape) > 2 && lut.shape[len(lut.shape)-1] > 1 {
			c.error(s.Pos, "", "a palette of vectors of %d", lut.shape[len(lut.shape)-1])
		}
	}, "constexpr_lut_to_dense")
}

func checkPalette3(c *check) {
	if c.spec.Palette3.Value {
		return
	}
	c.kinds(func(s *stmt) {
		indices, lut := s.in("indices"), s.in("lut")
		old := lut != nil && len(lut.shape) == 1 && lut.shape[0] == 8
		if indices != nil && (indices.dtype == mil.UInt3 || old) {
			c.note(s.Pos, "", "a palette of 3 bits is stored with 4")
		}
	}, "constexpr_lut_to_dense")
}

// byteWide reports whether a value is dequantized from 8 bits.
func byteWide(v *value, by ...string) bool {
	return v != nil && v.made != nil && slices.Contains(by, v.made.Kind)
}

var eightBit = []string{"constexpr_blockwise_shift_scale", "constexpr_affine_dequantize"}

func checkW8A8(c *check) {
	if !c.on(chip.M6) {
		return
	}
	c.kernels(func(s *stmt, h, w int) {
		if h == 1 && w == 1 && byteWide(s.in("x"), "dequantize") && byteWide(s.in("weight"), eightBit...) {
			c.note(s.Pos, "", "a 1x1 convolution of 8-bit activations")
		}
	})
}

func checkInt8Sum(c *check) {
	c.kernels(func(s *stmt, _, _ int) {
		const most = 127 * 127
		if k := inner(s); byteWide(s.in("x"), "dequantize") && byteWide(s.in("weight"), eightBit...) &&
			k*most >= 1<<31 {
			c.warn(s.Pos, "", "a sum of %d products of 8 bits reaches %d", k, k*most)
		}
	})
}
