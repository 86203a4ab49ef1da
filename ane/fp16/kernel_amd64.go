package fp16

import "golang.org/x/sys/cpu"

// detect requires F16C and AVX. x/sys/cpu reports AVX only if the operating system
// saves the 256-bit registers.
func detect() string {
	if cpu.X86.HasAVX && cpu.X86.HasF16C {
		return "f16c"
	}
	return portable
}

// detectBrain requires AVX2 as well, for its integers.
func detectBrain() bool { return detect() != portable && cpu.X86.HasAVX2 }
