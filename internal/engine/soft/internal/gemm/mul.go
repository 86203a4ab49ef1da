package gemm

import "github.com/anekit/anekit/internal/engine/soft/internal/simd"

// machine is the kernels: simd.Neon has those of Mul, Slide, and Fixed but for Fours, AVX2 and AVX512 have all. Only
// tests change it, to run other code than the best.
var machine = simd.Best()

// Mul sets c (m x n) to a (m x k) times b (k x n), all row-major and dense. With k = 0 every element is +0. c shares no
// memory with a or b. Elements of the slices beyond m*n, m*k and k*n are neither read nor written.
//
// It allocates nothing. A negative size, a size above 2^31-1 or a slice that is
// too short is a bug in the caller: Mul panics before it writes.
func Mul(c, a, b []float32, m, k, n int) {
	if uint64(m|k|n)>>31 != 0 {
		panic("BUG: gemm: size below 0 or above 2^31-1")
	}
	short := func(s []float32, rows, cols int) bool { return uint64(len(s)) < uint64(rows)*uint64(cols) }
	if short(c, m, n) || short(a, m, k) || short(b, k, n) {
		panic("BUG: gemm: slice shorter than its matrix")
	}
	switch c = c[:m*n]; {
	case len(c) == 0:
	case k == 0:
		clear(c)
	default:
		mul(c, a[:m*k], b[:k*n], m, k, n)
	}
}
