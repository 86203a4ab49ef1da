package fp16

// stretch is the number of elements converted in one call of assembly, which the
// scheduler cannot preempt. At about 20 GB/s it takes less than 0.1 ms, and is long
// enough to make the cost of the call negligible.
const stretch = 256 << 10

// Encode rounds src into dst, element by element as [FromFloat32] does, and
// returns the number of elements converted: the lesser of both lengths. It does not
// change elements of dst beyond it. The two must not share memory.
func Encode(dst []Bits, src []float32) int {
	n := min(len(dst), len(src))
	dst, src = dst[:n], src[:n]
	for len(src) > 0 {
		part := min(len(src), stretch)
		encode(dst[:part], src[:part])
		dst, src = dst[part:], src[part:]
	}
	return n
}

// Decode widens src into dst, element by element as [Bits.Float32] does, and
// returns the number of elements converted: the lesser of both lengths. It does not
// change elements of dst beyond it. The two must not share memory.
func Decode(dst []float32, src []Bits) int {
	n := min(len(dst), len(src))
	dst, src = dst[:n], src[:n]
	for len(src) > 0 {
		part := min(len(src), stretch)
		decode(dst[:part], src[:part])
		dst, src = dst[part:], src[part:]
	}
	return n
}

// looked is the number of elements that are looked at while they are in the cache.
const looked = 4 << 10

// EncodeFinite is [Encode], and reports whether the converted elements are finite, as [Finite] does.
func EncodeFinite(dst []Bits, src []float32) (n int, finite bool) {
	n, finite = min(len(dst), len(src)), true
	dst, src = dst[:n], src[:n]
	for len(src) > 0 {
		part := min(len(src), looked)
		finite = encodeFinite(dst[:part], src[:part]) && finite
		dst, src = dst[part:], src[part:]
	}
	return n, finite
}

// EncodeBrain rounds each element of src into dst as FromFloat32 rounds [Brain.Float32]. It returns the number of
// elements converted, the lesser of both lengths, and whether they are finite, as [Finite] does. It does not change
// elements of dst beyond it. The two must not share memory.
func EncodeBrain(dst []Bits, src []Brain) (n int, finite bool) {
	n, finite = min(len(dst), len(src)), true
	dst, src = dst[:n], src[:n]
	for len(src) > 0 {
		part := min(len(src), looked)
		finite = brain(dst[:part], src[:part]) && finite
		dst, src = dst[part:], src[part:]
	}
	return n, finite
}

// Finite reports whether no element is an infinity or a NaN.
func Finite(src []Bits) bool {
	for len(src) > 0 {
		part := min(len(src), stretch)
		if !finite(src[:part]) {
			return false
		}
		src = src[part:]
	}
	return true
}

// Round writes to dst each element of src rounded to the nearest half, as float32: the
// same as Encode followed by Decode, without a buffer between. Use it for references
// and for training that simulates storage as fp16. It converts as many elements as the
// shorter slice has. dst may be src itself; slices that overlap otherwise give
// undefined values.
func Round(dst, src []float32) {
	n := min(len(dst), len(src))
	dst, src = dst[:n], src[:n]
	for len(src) > 0 {
		part := min(len(src), stretch)
		round(dst[:part], src[:part])
		dst, src = dst[part:], src[part:]
	}
}

// Accelerated names the implementation of Encode, Decode and Round on this machine:
// "f16c" (amd64), "neon" (arm64) or "portable" (Go). Slices of fewer than eight
// elements are always converted by the Go code.
func Accelerated() string { return machine.kernel }
