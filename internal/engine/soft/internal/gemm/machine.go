package gemm

// machine describes the processor. It is set before other code of the package
// runs and does not change afterwards, except in tests, which select slower
// kernels.
var machine = struct {
	kernel string // "avx512", "avx2", "neon" or "portable"
}{
	kernel: detect(),
}
