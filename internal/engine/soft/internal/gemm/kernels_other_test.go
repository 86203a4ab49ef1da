//go:build !amd64 && !arm64

package gemm

// kernels lists every kernel of this architecture and whether the processor at
// hand has it.
func kernels() map[string]bool { return map[string]bool{portable: true} }
