package fp16

// detect returns a constant: FCVTL and FCVTN between half and single precision are part
// of Advanced SIMD in every ARMv8-A processor that Go runs on.
func detect() string { return "neon" }

func detectBrain() bool { return true }
