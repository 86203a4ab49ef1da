package packed

import "golang.org/x/sys/cpu"

// detect checks for the instructions themselves: x/sys/cpu reports AVX-512 only if the operating system saves the
// registers.
func detect() string {
	if cpu.X86.HasAVX512F && cpu.X86.HasAVX512VL && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512BW {
		return avx512
	}
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA && cpu.X86.HasF16C && cpu.X86.HasPOPCNT {
		return avx2
	}
	return portable
}

const avx512, avx2 = "avx512", "avx2"

// bits is the bits of the vectors that kernels use; 0 without kernels.
func bits() int {
	switch machine.kernel {
	case avx512:
		return 512
	case avx2:
		return 256
	}
	return 0
}
