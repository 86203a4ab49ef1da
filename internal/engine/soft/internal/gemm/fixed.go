package gemm

import (
	"math"

	"github.com/anekit/anekit/internal/engine/soft/internal/simd"
)

// FixedRows is the number of rows of A that Fixed handles together: a has a multiple of it.
const FixedRows = 4

// Rounding of the sums of Fixed.
const (
	// Exact adds all products exactly.
	Exact = iota
	// Fours rounds inside groups of four, from a magnitude of foursFrom on: see numerics.Fours.
	Fours
)

// foursFrom is the least magnitude of an operand that Fours rounds: 4096 in units of 2^-16. The assembly has it too.
const foursFrom = 1 << 28

// Fixed sums products in fixed point: sums (m x n) are those of a (m x k) times b (k x n), each product
// rounded to an integer, half away from zero. The unit of b is 1, that of a the one that makes a product an
// integer: the caller scales a. A product counts as 0 unless the exponent of b's element, as Exponent gives
// it, is above the element of least that belongs to a's. m is a multiple of FixedRows. The other elements of
// b and a are what fits: their product must be exact in float32.
//
// sizes (m x n) are the sums of the magnitudes of the products before rounding, in float32, each within k * 2^-23 of
// itself. A sum is valid only where Bound(size, k) is below 2^31: beyond, int32 may have overflowed.
func Fixed(sums []int32, sizes, a []float32, least []int32, b []float32, m, k, n, how int) {
	if m%FixedRows != 0 || len(sums) < m*n || len(sizes) < m*n || len(a) < m*k || len(least) < m*k ||
		len(b) < k*n || k == 0 || n == 0 {
		panic("BUG: gemm: slice shorter than its matrix")
	}
	whole := k
	if how == Fours {
		whole = k / 4 * 4
	}
	if machine < simd.AVX2 && (machine == simd.Portable || how == Fours) || whole == 0 {
		fixedPortable(sums, sizes, a, least, b, m, k, n, how, 0)
		return
	}
	if n < narrowFixed {
		fixedNarrow(sums, sizes, a, least, b, m, k, n, how, whole)
	} else {
		width := columnsOf(n) // the last piece overlaps the one before
		for j := 0; ; j = min(j+width, n-width) {
			for i := 0; i < m; i += FixedRows {
				for d := 0; d < whole; d += depthMax {
					fixedTile(&sums[i*n+j], &sizes[i*n+j], &a[i*k+d], &least[i*k+d], &b[d*n+j], n, k,
						min(depthMax, whole-d), d > 0, how == Fours, width == wideFixed)
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

// Bound returns an upper bound of the sum of the magnitudes of k rounded products, given the element of sizes. No sum
// of some of them exceeds it either, after the rounding of Fours.
func Bound(size float32, k int) float64 {
	return (float64(size)*(1+float64(k)*0x1p-22) + float64(k)) * (1 + 0x1p-8)
}

// Exponent returns the exponent of a float32 that was a half, as bits of a float32: subnormal halves have
// that of the least normal one.
func Exponent(f float32) int32 {
	return max(int32(math.Float32bits(f)&0x7f800000), (127-14)<<23)
}

// fixedPortable is Fixed in Go. It also computes the last group of Fours where k is no multiple of four. from is a
// multiple of four. If it is not 0, sums and sizes hold the sums of the rows before.
func fixedPortable(sums []int32, sizes, a []float32, least []int32, b []float32, m, k, n, how, from int) {
	if from == 0 {
		clear(sums[:m*n])
		clear(sizes[:m*n])
	}
	var piece [WalkRows * WalkColumns]float64
	for i := 0; i < m; i += WalkRows {
		for j := 0; j < n; j += WalkColumns {
			w := min(WalkColumns, n-j)
			for r := range WalkRows {
				for c, s := range sums[(i+r)*n+j:][:w] {
					piece[r*w+c] = float64(s)
				}
			}
			walkPortable(piece[:], a[i*k:], least[i*k:], b[j:], k, n, w, w, how, from, k)
			for r := range WalkRows {
				for c := range w {
					sums[(i+r)*n+j+c] = int32(piece[r*w+c])
				}
			}
		}
	}
	for i := range m {
		row := sizes[i*n:][:n]
		for d := from; d < k; d++ {
			f, t := a[i*k+d], least[i*k+d]
			for c, g := range b[d*n:][:n] {
				if Exponent(g) > t {
					row[c] += float32(math.Abs(float64(f * g)))
				}
			}
		}
	}
}

// The numbers of columns that a kernel handles together.
const (
	narrowFixed = 8
	wideFixed   = 16
)

// columnsOf is the columns of a piece of n or more.
func columnsOf(n int) int {
	if machine == simd.AVX512 && n >= wideFixed {
		return wideFixed
	}
	return narrowFixed
}

// fixedNarrow is Fixed for fewer columns than a piece, with copies of the rows of B.
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
			fixedTile(&sum[0], &size[0], &a[i*k+d], &least[i*k+d], &panel[0], narrowFixed, k, depth, d > 0,
				how == Fours, false)
			for r := range FixedRows {
				copy(sums[(i+r)*n:][:n], sum[r*narrowFixed:])
				copy(sizes[(i+r)*n:][:n], size[r*narrowFixed:])
			}
		}
	}
}
