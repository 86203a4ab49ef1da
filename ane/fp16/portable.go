package fp16

// portable is the name of the Go code in this file, which runs on every processor. Its
// callers pass slices of equal length.
const portable = "portable"

func encodePortable(dst []Bits, src []float32) {
	dst = dst[:len(src)]
	for i, f := range src {
		dst[i] = FromFloat32(f)
	}
}

func decodePortable(dst []float32, src []Bits) {
	dst = dst[:len(src)]
	for i, b := range src {
		dst[i] = b.Float32()
	}
}

func roundPortable(dst, src []float32) {
	dst = dst[:len(src)]
	for i, f := range src {
		dst[i] = FromFloat32(f).Float32()
	}
}

func brainPortable(dst []Bits, src []Brain) {
	dst = dst[:len(src)]
	for i, b := range src {
		dst[i] = FromFloat32(b.float32())
	}
}

func finitePortable(src []Bits) bool {
	for _, b := range src {
		if b&0x7c00 == 0x7c00 {
			return false
		}
	}
	return true
}

// machine describes the processor. It is set before any other code of the package runs.
// Only tests change it, to run the Go code on a processor with a kernel.
var machine = struct {
	kernel string // as Accelerated returns it
	brain  bool   // EncodeBrain has a kernel too
}{
	kernel: detect(),
	brain:  detectBrain(),
}
