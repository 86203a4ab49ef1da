package gemm

import "golang.org/x/sys/cpu"

// kernels returns every kernel of this architecture and whether this processor
// has it.
func kernels() map[int]bool {
	return map[int]bool{portable: true, avx2: cpu.X86.HasAVX2 && cpu.X86.HasFMA, avx512: machine.kernel == avx512}
}
