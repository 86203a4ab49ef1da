package gemm

// kernels returns every kernel of this architecture and whether this processor
// has it.
func kernels() map[string]bool { return map[string]bool{portable: true, neon: true} }
