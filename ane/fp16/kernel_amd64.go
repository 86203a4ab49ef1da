package fp16

import "golang.org/x/sys/cpu"

// detect asks for F16C, and for AVX, which x/sys/cpu reports only if the
// operating system saves the 256-bit registers.
func detect() string {
	if cpu.X86.HasAVX && cpu.X86.HasF16C {
		return "f16c"
	}
	return portable
}
