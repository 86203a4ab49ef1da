package gemm

import (
	"fmt"
	"testing"

	"github.com/anekit/anekit/internal/engine/soft/internal/simd"
)

// benchShapes are tiles of the engine: a matrix product, a vector times a
// matrix, small convolutions with many outputs and with one, small products, one
// with few rows, one with a vector.
var benchShapes = []struct{ m, k, n int }{
	{32, 768, 256}, {1, 4096, 256}, {32, 9, 256}, {1, 9, 256}, {1, 9, 49}, {32, 64, 32}, {32, 64, 49}, {7, 256,
		256}, {32, 768, 1},
}

// eachShape measures f for every kernel and shape.
func eachShape(b *testing.B, f func(c, a, b []float32, m, k, n int)) {
	for _, kernel := range simd.Levels() {
		for _, s := range benchShapes {
			b.Run(fmt.Sprintf("%dx%dx%d/%s", s.m, s.k, s.n, kernel), func(b *testing.B) {
				use(b, kernel)
				c, left, right := make([]float32, s.m*s.n), make([]float32, s.m*s.k), make([]float32, s.k*s.n)
				for i := range left {
					left[i] = 1 / float32(i%7+1)
				}
				for i := range right {
					right[i] = float32(i%13) / 16
				}
				b.ReportAllocs()
				for b.Loop() {
					f(c, left, right, s.m, s.k, s.n)
				}
				b.ReportMetric(2*float64(s.m*s.k*s.n)*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
			})
		}
	}
}

func BenchmarkMul(b *testing.B) { eachShape(b, Mul) }

// BenchmarkMulFloor measures the floor of assembly as its tile doing as many
// steps on one row of B, so that every load hits the first-level cache. The
// floor of Go is the plain loop.
func BenchmarkMulFloor(b *testing.B) { eachShape(b, floor) }

func plain(c, a, b []float32, m, k, n int) {
	for i := range m {
		for j := range n {
			var sum float32
			for p := range k {
				sum += float32(a[i*k+p] * b[p*n+j])
			}
			c[i*n+j] = sum
		}
	}
}
