//go:build amd64 || arm64

package fp16

// lanes is the number of elements in one step of the assembly. The Go code converts
// shorter slices: for a rest of fewer elements the assembly converts the last eight
// again, and so needs at least eight.
const lanes = 8

// finiteStep is the number of elements in one step of finiteVector.
const finiteStep = 32

// The assembly reads n elements at src and writes n at dst; n must be at least
// lanes. dst and src need no alignment beyond that of their elements.

//go:noescape
func encodeVector(dst *Bits, src *float32, n int)

//go:noescape
func decodeVector(dst *float32, src *Bits, n int)

//go:noescape
func roundVector(dst, src *float32, n int)

// n is a multiple of finiteStep.
//
//go:noescape
func finiteVector(src *Bits, n int) bool

func vectors(n int) bool { return n >= lanes && machine.kernel != portable }

func encode(dst []Bits, src []float32) {
	if !vectors(len(src)) {
		encodePortable(dst, src)
		return
	}
	encodeVector(&dst[0], &src[0], len(src))
}

func decode(dst []float32, src []Bits) {
	if !vectors(len(src)) {
		decodePortable(dst, src)
		return
	}
	decodeVector(&dst[0], &src[0], len(src))
}

func round(dst, src []float32) {
	if !vectors(len(src)) {
		roundPortable(dst, src)
		return
	}
	roundVector(&dst[0], &src[0], len(src))
}

func finite(src []Bits) bool {
	whole := 0
	if machine.kernel != portable && machine.brain { // its integers need AVX2 too
		whole = len(src) / finiteStep * finiteStep
	}
	return (whole == 0 || finiteVector(&src[0], whole)) && finitePortable(src[whole:])
}
