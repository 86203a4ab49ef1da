package gemm

import "golang.org/x/sys/cpu"

// kernels lists every kernel of this architecture and whether the processor at
// hand has it.
func kernels() map[string]bool {
	return map[string]bool{portable: true, avx2: cpu.X86.HasAVX2 && cpu.X86.HasFMA, avx512: cpu.X86.HasAVX512F}
}
