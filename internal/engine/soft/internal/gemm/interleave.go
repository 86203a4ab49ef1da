package gemm

import "github.com/anekit/anekit/internal/engine/soft/internal/simd"

// Interleaved is the number of rows that Interleave takes.
const Interleaved = 8

// Interleave sets dst[i*width+j] to rows[j][i]: the rows become columns beside each other, of a matrix whose rows begin
// width elements apart. The rows have equal lengths and share no memory with dst.
func Interleave(dst []float32, width int, rows *[Interleaved][]float32) {
	n := len(rows[0])
	if n == 0 {
		return
	}
	if width < Interleaved || len(dst) < (n-1)*width+Interleaved {
		panic("BUG: gemm: slice shorter than its columns")
	}
	for _, row := range rows {
		if len(row) != n {
			panic("BUG: gemm: rows of different lengths")
		}
	}
	done := 0
	if eights := n / 8; machine >= simd.AVX2 && eights > 0 {
		var from [Interleaved]*float32
		for i, row := range rows {
			from[i] = &row[0]
		}
		interleaveTiles(&dst[0], width, &from, eights)
		done = 8 * eights
	}
	a, b, c, d, e, f, g, h := rows[0], rows[1], rows[2], rows[3], rows[4], rows[5], rows[6], rows[7]
	for i := done; i < n; i++ {
		to := (*[Interleaved]float32)(dst[i*width:])
		to[0], to[1], to[2], to[3] = a[i], b[i], c[i], d[i]
		to[4], to[5], to[6], to[7] = e[i], f[i], g[i], h[i]
	}
}
