package gemm

import (
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft/internal/simd"
)

// Strip is the columns of a strip. A matrix of k rows in strips has its first columns, row after row, then the next
// ones: element (i, j) is (j/Strip*k+i)*Strip + j%Strip. So a tile reads one run of memory, wherever the rows of the
// matrix lie. The last strip is as wide as the others; its columns beyond the matrix are any numbers.
const Strip = 16

// StripRows is the least rows of C for which MulStrips is faster than Mul.
const StripRows = 4

// Strips reports whether the machine has MulStrips. Others have no faster code for it than for Mul.
func Strips() bool { return machine == simd.AVX2 }

// InStrips is the elements of a matrix in strips.
func InStrips(k, n int) int { return (n + Strip - 1) / Strip * Strip * k }

// half is a number of 16 bits, for the assembly.
type half = fp16.Bits

// MulStrips is Mul for a matrix B in strips, and for elements d to d+depth of the k of its sums. Rows of A begin with
// element d and are stride apart. Unless d is 0, C has the sums of the elements before.
func MulStrips(c, a []float32, stride int, b []float32, m, k, n, d, depth int) {
	if min(m, n, depth) <= 0 || d < 0 || d+depth > k || len(c) < m*n || stride < depth || len(a) < (m-1)*stride+depth ||
		len(b) < InStrips(k, n) {
		panic("BUG: gemm: wrong sizes of a product with strips")
	}
	for end := d + depth; d < end; a, d = a[min(depthMax, len(a)):], d+depthMax {
		depth := min(depthMax, end-d)
		whole := n / Strip * Strip
		for j := 0; j < whole; j += Strip {
			evenly(m, 6, func(i, rows, tiles int) {
				stripTile(rows, &c[i*n+j], &a[i*stride], &b[j*k+d*Strip], n, stride, depth, tiles, d > 0)
			})
		}
		if whole < n {
			mulLast(c[whole:], a, stride, b[whole*k+d*Strip:], m, n, n-whole, depth, d > 0)
		}
	}
}

// evenly cuts m rows into as few tiles of at most some rows as can be, whose rows differ by one at most, and calls f
// with the first row, the rows and the number of tiles of each size.
func evenly(m, most int, f func(i, rows, tiles int)) {
	tiles := (m + most - 1) / most
	low, more := m/tiles, m%tiles
	if more > 0 {
		f(0, low+1, more)
	}
	f(more*(low+1), low, tiles-more)
}

// lastRows is the rows of mulLast that are summed together.
const lastRows = 48

// mulLast is MulStrips for the columns of the last strip, by way of a copy as wide as the strip.
func mulLast(c, a []float32, stride int, b []float32, m, n, columns, depth int, add bool) {
	var sums [lastRows * Strip]float32
	for ; m > 0; m -= lastRows {
		rows := min(m, lastRows)
		for r := 0; add && r < rows; r++ {
			copy(sums[r*Strip:][:columns], c[r*n:])
		}
		if columns > Strip/2 {
			evenly(rows, 6, func(i, high, tiles int) {
				stripTile(high, &sums[i*Strip], &a[i*stride], &b[0], Strip, stride, depth, tiles, add)
			})
		} else {
			evenly(rows, 12, func(i, high, tiles int) {
				halfTile(high, &sums[i*Strip], &a[i*stride], &b[0], Strip, stride, depth, tiles, add)
			})
		}
		for r := range rows {
			copy(c[r*n:][:columns], sums[r*Strip:])
		}
		if m > lastRows {
			c, a = c[lastRows*n:], a[lastRows*stride:]
		}
	}
}

// Rows are rows of a matrix that lie in memory, n elements each and stride apart.
type Rows[T float32 | half] struct {
	Elements         []T
	Count, N, Stride int
}

// packRows is the rows that PackStrips copies at a time: what it reads stays in the first-level cache.
const packRows = 16

// PackStrips copies rows into a matrix of k rows in strips, from row at on and step apart there.
func PackStrips[T float32 | half](dst []float32, k, at, step int, r Rows[T]) {
	if r.Count == 0 || r.N == 0 {
		return
	}
	if last := at + (r.Count-1)*step; at < 0 || step < 1 || last >= k || len(dst) < InStrips(k, r.N) || r.Stride < 0 ||
		len(r.Elements) < (r.Count-1)*r.Stride+r.N {
		panic("BUG: gemm: wrong sizes of rows for strips")
	}
	wide := (r.N + Strip - 1) / Strip
	safe := 0 // rows after which there are elements enough for the whole last strip
	if more := len(r.Elements) - wide*Strip; more >= 0 && r.Stride > 0 {
		safe = min(r.Count, more/r.Stride+1)
	} else if more >= 0 {
		safe = r.Count
	}
	for i := 0; i < safe; i += packRows {
		packStrips(&dst[(at+i*step)*Strip], &r.Elements[i*r.Stride], min(packRows, safe-i), wide, step, k, r.Stride)
	}
	for i := safe; i < r.Count; i++ {
		row, to := r.Elements[i*r.Stride:][:r.N], dst[(at+i*step)*Strip:]
		if r.N >= Strip {
			packStrips(&to[0], &row[0], 1, r.N/Strip, step, k, 0)
		}
		if whole := r.N / Strip * Strip; whole < r.N {
			var last [Strip]T
			copy(last[:], row[whole:])
			packStrips(&to[whole*k], &last[0], 1, 1, step, k, 0)
		}
	}
}

func packStrips[T float32 | half](dst *float32, src *T, rows, strips, step, k, stride int) {
	switch src := any(src).(type) {
	case *float32:
		stripFloats(dst, src, rows, strips, step*Strip, k*Strip, stride)
	case *half:
		stripHalves(dst, src, rows, strips, step*Strip, k*Strip, stride)
	}
}
