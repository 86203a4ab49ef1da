package interp

import "github.com/anekit/anekit/ane/interp/internal/gemm"

// multiply sets c (m x n) to a (m x k) times b (k x n), all row-major and dense.
// Each sum runs along k in order, so the same operands give the same bits with
// any number of workers and however the product is cut into tiles.
func multiply(c, a, b []float32, m, k, n int) { gemm.Mul(c, a, b, m, k, n) }
