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

//go:noescape
func brainVector(dst *Bits, src *Brain, n int) bool

// n is a multiple of finiteStep.
//
//go:noescape
func encodeFiniteVector(dst *Bits, src *float32, n int) bool

// encodeFinite is encode, and finite of the result.
func encodeFinite(dst []Bits, src []float32) bool {
	whole := 0
	if vectors(len(src)) && machine.brain { // its integers need AVX2 too
		whole = len(src) / finiteStep * finiteStep
	}
	fine := whole == 0 || encodeFiniteVector(&dst[0], &src[0], whole)
	dst, src = dst[whole:], src[whole:]
	encode(dst, src)
	return finite(dst) && fine
}

func brain(dst []Bits, src []Brain) bool {
	if !vectors(len(src)) || !machine.brain {
		brainPortable(dst, src)
		return finite(dst)
	}
	return brainVector(&dst[0], &src[0], len(src))
}
