package halves

import "golang.org/x/sys/cpu"

// kernels lists the kernels that this processor has.
func kernels() []int {
	list := []int{portable}
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA && cpu.X86.HasF16C {
		list = append(list, avx2)
	}
	if machine.kernel == avx512 {
		list = append(list, avx512)
	}
	return list
}
