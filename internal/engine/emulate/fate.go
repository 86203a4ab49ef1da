package emulate

// fate is what becomes of a program that breaks a rule.
type fate uint8

const (
	runs      fate = iota // it computes something else
	invalid               // InvalidMILProgram: text or signature
	limit                 // the compiler gives no reason: limits
	refused22             // the compiler returns 22
	dies                  // the compiler's process ends
	unloaded              // it compiles, and does not load
	poisons               // it compiles, and every later evaluate of the process fails
)

// fates holds what Apple's software does with a program for which lint reports an error of the in-memory compiler.
// Rules about text and types are InvalidMILProgram, those about limits give no reason.
func fates(rule string) (f fate, known bool) {
	switch rule {
	case "syntax", "types", "unknown-operator", "bare-literal", "opset-os", "dynamic-shape", "gelu-mode",
		"concat-interleave", "epsilon-missing", "dead-output", "unused-input", "io-type", "cast-type", "int4-operand",
		"conv-groups", "blob-path", "block-quantization":
		return invalid, true
	case "kernel-width", "kernel-height", "kernel-square", "conv-channels", "conv-3d", "dynamic-conv-dilation",
		"pool-width", "lrn-channels", "reduce-times-zero", "fused-square", "int4-blocks", "vector-palette",
		"refused-operator", "trigonometry", "only-views", "rank", "matmul-rank", "matmul-inner", "axis-length",
		"tile-factors", "channel-pad", "missing-argument":
		return limit, true
	case "topk":
		return refused22, true
	case "dynamic-conv-batch", "conv-chain":
		return dies, true
	case "large-surface":
		return unloaded, true
	case "tile-poison":
		return poisons, true
	case "blob-offset", "blob-overlap", "slice-scale", "dynamic-conv-ignored", "state":
		return runs, true
	}
	return limit, false
}
