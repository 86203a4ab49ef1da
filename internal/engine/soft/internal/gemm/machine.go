package gemm

// machine describes the processor. It is set before other code of the package
// runs and does not change afterwards, except in tests, which select slower
// kernels.
var machine = struct{ kernel int }{detect()}

// The kernels.
const (
	portable = iota // the Go code, which needs no special instructions
	neon            // Mul, Slide, and Fixed but for Fours
	avx2
	avx512
)
