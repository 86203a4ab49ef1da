package lint

import (
	"github.com/anekit/anekit/ane/chip"
)

// convRules are about convolutions and pools.
func convRules() []Rule {
	const study = "study, compiles for h16g and h18g (C, M); forge, guide for M1 and M5"
	return []Rule{
		{ID: "kernel-width", Severity: Error, each: true, placed: true, Title: "A kernel is wider than the chip takes.",
			Reason: "The compiler refuses it; Core ML places it on the CPU without a word.",
			Fix:    "split the kernel, or turn it: kernels may be higher than wide", Source: study,
			check: checkPlaced},
		{ID: "kernel-height", Severity: Error, each: true, placed: true,
			Title:  "A kernel is higher than the chip takes.",
			Reason: "The compiler refuses it.", Fix: "split the kernel", Source: study, check: checkPlaced},
		{ID: "kernel-square", Severity: Error, each: true, placed: true,
			Title:  "A square kernel is larger than the chip takes.",
			Reason: "16x16 compiles only through Core ML, in minutes and with 12 GB; 17x17 fails.",
			Fix:    "split the kernel",
			Source: study, check: checkPlaced},
		{ID: "kernel-rewritten", Severity: Note, each: true, Title: "A kernel is 9 to 15 wide.",
			Reason: "The compiler rewrites it to stride 2, which is slow, and a second engine adds nothing when " +
				"it is split by rows (B9).",
			Fix: "use widths up to 8", Source: "study 7.4 (C)", check: checkRewritten},
		{ID: "conv-channels", Severity: Error, each: true, placed: true,
			Title:  "A convolution has 32000 input channels or more.",
			Reason: "ANECCompile() FAILED; as many output channels work.",
			Fix:    "use matmul, as the gradient of a classifier does",
			Source: "gpt, maderix (M)", check: checkPlaced},
		{ID: "conv-3d", Severity: Error, placed: true, Compilers: engineCompilers,
			Title:  "A convolution or pool has three spatial axes.",
			Reason: "The engine's compilers have no 3-D convolution.", Fix: "fold an axis into the batch",
			Source: "ironmill (M)", check: checkPlaced},
		{ID: "conv-groups", Severity: Error, Title: "The groups of a convolution do not divide its channels.",
			Reason: "The compiler answers KernelChannels (..) != InputChannels (..) / Group (..).",
			Fix:    "choose a divisor of both",
			Source: "ironmill (M)", check: checkGroups},
		{ID: "dynamic-conv-batch", Severity: Error, each: true, placed: true,
			Title:  "A convolution whose weight is an input has a batch of 2 or more.",
			Reason: "The compiler service dies.", Fix: "run one image at a time", Source: "forge, on M1 and M5 (M)",
			check: checkPlaced},
		{ID: "dynamic-conv-dilation", Severity: Error, placed: true, Compilers: engineCompilers,
			Title: "A convolution whose weight is an input is dilated.", Reason: "The compiler refuses it.",
			Fix: "write zeros into the weight", Source: "forge, on M5 (M)", check: checkPlaced},
		{ID: "dynamic-conv-ignored", Severity: Error, each: true, Compilers: []chip.Compiler{chip.InMemory},
			Title:  "The weight of a convolution is an input.",
			Reason: "On an M3 Max the program compiles and ignores the weight; E5 uses it.",
			Fix:    "use matmul, whose operands may be inputs",
			Source: "field guide, on M3 Max (M)", check: checkDynamicIgnored},
		{ID: "pool-width", Severity: Error, each: true, placed: true,
			Title:  "The window of a pool is wider than the chip takes.",
			Reason: "The compiler refuses max_pool wider than 8; no avg_pool wider than 14 was tried.",
			Fix:    "pool twice, or turn the window: it may be higher than wide", Source: "study (C)",
			check: checkPlaced},
		{ID: "lrn-channels", Severity: Error, each: true, placed: true,
			Title:  "local_response_norm has more than 15 channels.",
			Reason: "The engine refuses it.", Fix: "write it with square, avg_pool and pow",
			Source: "forge, on M1 and M5 (M)",
			check:  checkPlaced},
	}
}

// kernel returns the height and the width of a convolution's kernel; false if it is none of rank 3 or 4.
func kernel(s *stmt) (h, w int, ok bool) {
	if s.Kind != "conv" && s.Kind != "conv_transpose" {
		return 0, 0, false
	}
	v := s.in("weight")
	if v == nil || !v.fixed || len(v.shape) < 3 || len(v.shape) > 4 {
		return 0, 0, false
	}
	if len(v.shape) == 3 {
		return 1, v.shape[2], true
	}
	return v.shape[2], v.shape[3], true
}

// kernels visits the convolutions.
func (r *run) kernels(visit func(s *stmt, h, w int)) {
	r.kinds(func(s *stmt) {
		if h, w, ok := kernel(s); ok {
			visit(s, h, w)
		}
	}, "conv", "conv_transpose")
}

func checkRewritten(c *check) {
	from := c.spec.RewrittenFrom
	c.kernels(func(s *stmt, h, w int) {
		if from.Known() && w >= from.Value && w <= c.spec.KernelWidth.Value {
			c.note(s.Pos, "", "kernel %dx%d: widths from %d are rewritten to stride 2", h, w, from.Value)
		}
	})
}

func checkGroups(c *check) {
	c.kinds(func(s *stmt) {
		x, w := s.in("x"), s.in("weight")
		if x == nil || w == nil || len(x.shape) < 3 || len(w.shape) < 3 {
			return
		}
		g, in, out := s.integer("groups", 1), x.shape[1], w.shape[0]
		if g < 1 || in%g != 0 || out%g != 0 {
			c.error(s.Pos, "", "%d groups do not divide %d input and %d output channels", g, in, out)
		}
	}, "conv")
}

// dynamic visits convolutions whose weight is not known when compiling.
func (r *run) dynamic(visit func(s *stmt)) {
	r.kinds(func(s *stmt) {
		if w := s.in("weight"); w != nil && !w.folded {
			visit(s)
		}
	}, "conv", "conv_transpose")
}

func checkDynamicIgnored(c *check) {
	c.dynamic(func(s *stmt) {
		if c.on(chip.M3) {
			c.error(s.Pos, "", "the weight is computed: the chip ignores it")
			return
		}
		c.warn(s.Pos, "", "the weight is computed: an M3 Max ignores it, and no other chip is known to use it "+
			"with this compiler")
	})
}
