package gemm

// machine describes the processor. It is set before any other code of the package runs.
// Only tests change it, to select slower kernels.
var machine = struct{ kernel int }{detect()}

// The kernels.
const (
	portable = iota // the Go code, which needs no special instructions
	neon            // Mul, Slide, and Fixed but for Fours
	avx2
	avx512
)
