// Package peak is the floor of matrix products: the multiply-add loop of the software engine's kernel, on matrices in
// the first-level cache. Benchmarks put their products beside it.
package peak

import (
	"sync"

	"github.com/anekit/anekit/internal/engine/soft/internal/gemm"
)

// The matrices of a loop have some 20 KB.
const rows, inner, cols = 8, 128, 32

// Loop returns a function that computes n products of float32 and their sums, rounded down to whole matrices, in the
// goroutine that calls it. Goroutines need a Loop each.
func Loop(n int) func() {
	c, a, b := make([]float32, rows*cols), make([]float32, rows*inner), make([]float32, inner*cols)
	return func() {
		for range n / (rows * inner * cols) {
			gemm.Mul(c, a, b, rows, inner, cols)
		}
	}
}

// Share computes n products in some goroutines.
func Share(workers, n int) {
	var wait sync.WaitGroup
	for range workers {
		wait.Go(Loop(n / workers))
	}
	wait.Wait()
}
