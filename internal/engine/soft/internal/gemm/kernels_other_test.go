//go:build !amd64 && !arm64

package gemm

// kernels returns every kernel of this architecture and whether this processor
// has it.
func kernels() map[int]bool { return map[int]bool{portable: true} }
