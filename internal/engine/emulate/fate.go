package emulate

// fate is what becomes of a program that breaks a rule. The least of several is what the software meets first.
type fate uint8

const (
	invalid   fate = iota // InvalidMILProgram: text or signature
	dies                  // the compiler's process ends
	refused22             // the compiler returns 22
	limit                 // the compiler gives no reason: limits
	unloaded              // it compiles, and does not load
	poisons               // it compiles, and every later evaluate of the process fails
	runs                  // it computes something else
)

// fateOf returns what Apple's software does with a program for which lint reports an error of the in-memory compiler.
// Rules about text and types are InvalidMILProgram, those about limits give no reason.
func fateOf(rule string) fate {
	switch rule {
	case "syntax", "types", "unknown-operator", "bare-literal", "opset-os", "dynamic-shape", "gelu-mode",
		"concat-interleave", "epsilon-missing", "dead-output", "unused-input", "io-type", "cast-type", "int4-operand",
		"conv-groups", "blob-path", "block-quantization":
		return invalid
	case "topk":
		return refused22
	case "dynamic-conv-batch", "conv-chain":
		return dies
	case "large-surface":
		return unloaded
	case "tile-poison":
		return poisons
	case "blob-offset", "blob-overlap", "slice-scale", "dynamic-conv-ignored", "state",
		"weight-file": // the software engine refuses it and names the file
		return runs
	}
	return limit
}
