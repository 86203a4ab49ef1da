//go:build !amd64 && !arm64

package fp16

func detect() string    { return portable }
func detectBrain() bool { return false }

func encode(dst []Bits, src []float32) { encodePortable(dst, src) }
func decode(dst []float32, src []Bits) { decodePortable(dst, src) }
func round(dst, src []float32)         { roundPortable(dst, src) }
func finite(src []Bits) bool           { return finitePortable(src) }

// encodeFinite is encode, and finite of the result.
func encodeFinite(dst []Bits, src []float32) bool {
	encode(dst, src)
	return finite(dst)
}

func brain(dst []Bits, src []Brain) bool {
	brainPortable(dst, src)
	return finite(dst)
}
