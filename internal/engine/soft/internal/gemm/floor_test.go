package gemm

import "github.com/anekit/anekit/internal/engine/soft/internal/simd"

func floor(c, a, b []float32, m, k, n int) {
	if machine == simd.Portable {
		plain(c, a, b, m, k, n)
		return
	}
	p := choose(32)
	var row, sums [64]float32
	var left [depthMax]float32
	// With distances of 0 all rows of A, B and C are the same.
	for steps := (m*k*n + p.rows*p.cols - 1) / (p.rows * p.cols); steps > 0; steps -= depthMax {
		tile(&sums[0], &left[0], &row[0], 0, 0, min(steps, depthMax), true, p.wide)
	}
}
