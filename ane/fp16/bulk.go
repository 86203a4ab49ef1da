package fp16

// stretch is the number of elements converted between two points at which the
// scheduler may stop the goroutine: assembly cannot be preempted. At some 20 GB/s
// it is below 0.1 ms, and long enough for the cost of the call to vanish.
const stretch = 256 << 10

// Encode rounds src into dst, element by element as [FromFloat32] does, and
// returns the number of elements converted: the lesser of both lengths. Elements
// of dst beyond it are left alone. The two must not share memory.
func Encode(dst []Bits, src []float32) int {
	n := min(len(dst), len(src))
	for i := 0; i < n; i += stretch {
		end := min(i+stretch, n)
		encode(dst[i:end], src[i:end])
	}
	return n
}

// Decode widens src into dst, element by element as [Bits.Float32] does, and
// returns the number of elements converted: the lesser of both lengths. Elements
// of dst beyond it are left alone. The two must not share memory.
func Decode(dst []float32, src []Bits) int {
	n := min(len(dst), len(src))
	for i := 0; i < n; i += stretch {
		end := min(i+stretch, n)
		decode(dst[i:end], src[i:end])
	}
	return n
}

// Round writes to dst each element of src rounded to the nearest value that a
// half can hold, kept in float32: the same as Encode followed by Decode, without
// the memory between: for references and for training that knows what storage
// will do to its values. It treats as many elements as the shorter slice has. dst
// may be src itself; slices that overlap otherwise give undefined values.
func Round(dst, src []float32) {
	n := min(len(dst), len(src))
	for i := 0; i < n; i += stretch {
		end := min(i+stretch, n)
		round(dst[i:end], src[i:end])
	}
}

// Accelerated names the code behind Encode, Decode and Round on this machine:
// "f16c" (amd64), "neon" (arm64) or "portable" (Go). Slices of fewer than eight
// elements are always converted by the Go code.
func Accelerated() string { return machine.kernel }
