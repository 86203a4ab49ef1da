package gemm

// Mul sets c (m x n) to a (m x k) times b (k x n), all row-major and dense. With
// k = 0 every element is +0. c shares no memory with a or b. Elements of the
// slices beyond m*n, m*k and k*n are neither read nor written.
//
// It allocates nothing. A size that is negative or above 2^31-1, or a slice that
// is too short, is a mistake in the calling code: Mul panics before it writes.
func Mul(c, a, b []float32, m, k, n int) {
	if uint64(m|k|n)>>31 != 0 {
		panic("gemm: size out of range")
	}
	c, a, b = c[:m*n], a[:m*k], b[:k*n]
	switch {
	case len(c) == 0:
	case k == 0:
		clear(c)
	default:
		mul(c, a, b, m, k, n)
	}
}
