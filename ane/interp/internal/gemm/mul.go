package gemm

// Mul sets c (m x n) to a (m x k) times b (k x n), all row-major and dense. With
// k = 0 every element is +0. c shares no memory with a or b; elements of the
// slices beyond m*n, m*k and k*n are neither read nor written.
//
// Shorter slices and negative sizes are a mistake of the caller and panic
// before anything is written.
func Mul(c, a, b []float32, m, k, n int) {
	c, a, b = c[:m*n:m*n], a[:m*k:m*k], b[:k*n:k*n]
	switch {
	case len(c) == 0:
	case k == 0:
		clear(c)
	default:
		mul(c, a, b, m, k, n)
	}
}

// Accelerated names the kernel in use: "avx512", "avx2", "neon" or "portable".
func Accelerated() string { return machine.kernel }
