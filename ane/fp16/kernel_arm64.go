package fp16

// detect returns a constant: FCVTL and FCVTN between half and single precision are part
// of Advanced SIMD in every ARMv8-A processor that Go runs on.
func detect() string { return "neon" }

func detectBrain() bool { return true }

//go:noescape
func brainVector(dst *Bits, src *Brain, n int)

// encodeFinite is encode, and finite of the result.
func encodeFinite(dst []Bits, src []float32) bool {
	encode(dst, src)
	return finite(dst)
}

func brain(dst []Bits, src []Brain) bool {
	if vectors(len(src)) {
		brainVector(&dst[0], &src[0], len(src))
	} else {
		brainPortable(dst, src)
	}
	return finite(dst)
}
