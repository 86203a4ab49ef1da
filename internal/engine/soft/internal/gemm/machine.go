package gemm

// machine holds what is known of the processor. It is filled before any other
// code of the package runs and not changed afterwards (tests do, to reach the
// kernels that a better one hides).
var machine = struct {
	kernel string // "avx512", "avx2", "neon" or "portable"
}{
	kernel: detect(),
}
