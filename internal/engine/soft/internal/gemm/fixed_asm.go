//go:build amd64 || arm64

package gemm

// fixed covers the sums with pieces of FixedRows rows and fixedWidth columns. At the right edge the last
// piece overlaps the one before.
func fixed(sums []int32, sizes, a []float32, least []int32, b []float32, m, k, n, how int) {
	whole := k
	if how == Fours {
		whole = k / 4 * 4
	}
	if !hasFixed(how) || whole == 0 {
		fixedPortable(sums, sizes, a, least, b, m, k, n, how, 0)
		return
	}
	if n < narrowFixed {
		fixedNarrow(sums, sizes, a, least, b, m, k, n, how, whole)
	} else {
		width := fixedWidth(n)
		for j := 0; ; j = min(j+width, n-width) {
			for i := 0; i < m; i += FixedRows {
				for d := 0; d < whole; d += depthMax {
					fixedTile(&sums[i*n+j], &sizes[i*n+j], &a[i*k+d], &least[i*k+d], &b[d*n+j], n, k,
						min(depthMax, whole-d), how, width, d > 0)
				}
			}
			if j == n-width {
				break
			}
		}
	}
	if whole < k {
		fixedPortable(sums, sizes, a, least, b, m, k, n, how, whole)
	}
}

// fixedNarrow is fixed for fewer columns than a piece, with copies of the rows of B.
func fixedNarrow(sums []int32, sizes, a []float32, least []int32, b []float32, m, k, n, how, whole int) {
	var panel [depthNarrow * narrowFixed]float32
	var sum [FixedRows * narrowFixed]int32
	var size [FixedRows * narrowFixed]float32
	for d := 0; d < whole; d += depthNarrow {
		depth := min(depthNarrow, whole-d)
		for r := range depth {
			copy(panel[r*narrowFixed:][:n], b[(d+r)*n:])
		}
		for i := 0; i < m; i += FixedRows {
			for r := 0; d > 0 && r < FixedRows; r++ {
				copy(sum[r*narrowFixed:][:n], sums[(i+r)*n:])
				copy(size[r*narrowFixed:][:n], sizes[(i+r)*n:])
			}
			fixedTile(&sum[0], &size[0], &a[i*k+d], &least[i*k+d], &panel[0], narrowFixed, k, depth, how,
				narrowFixed, d > 0)
			for r := range FixedRows {
				copy(sums[(i+r)*n:][:n], sum[r*narrowFixed:])
				copy(sizes[(i+r)*n:][:n], size[r*narrowFixed:])
			}
		}
	}
}
