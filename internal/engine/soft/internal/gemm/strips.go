package gemm

import (
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft/internal/simd"
)

// Strip is the columns of a strip. A matrix in strips has its first columns, row after row, then the next ones: with
// strips that begin pitch rows apart, element (i, j) is (j/Strip*pitch+i)*Strip + j%Strip. So a tile reads one run of
// memory, wherever the rows of the matrix lie. The last strip is as wide as the others; its columns beyond the matrix
// are any numbers.
const Strip = 16

// Pitch is the rows from one strip of k rows to the next: an odd number, so that the rows of several strips lie in
// different sets of a cache.
func Pitch(k int) int { return k | 1 }

// StripRows is the least rows of C for which MulStrips is faster than Mul.
const StripRows = 4

// Strips reports whether the machine has MulStrips. Others have no faster code for it than for Mul.
func Strips() bool { return machine == simd.AVX2 }

// InStrips is the elements of a matrix of k rows in strips.
func InStrips(k, n int) int { return (n + Strip - 1) / Strip * Strip * Pitch(k) }

// Columns is what MulStrips computes for n columns: eight at a time.
func Columns(n int) int { return (n + 7) / 8 * 8 }

// half is a number of 16 bits, for the assembly.
type half = fp16.Bits

// MulStrips is Mul for a matrix B of depth rows in strips that begin pitch rows apart. Rows of A are stride elements
// apart. With add the sums begin with those in C, of the rows of B before.
func MulStrips(c, a []float32, stride int, b []float32, pitch, m, n, depth int, add bool) {
	if min(m, n, depth) <= 0 || max(m, n, depth, stride, pitch)>>31 != 0 || min(stride, pitch) < depth || len(c) < m*n ||
		len(a) < (m-1)*stride+depth || len(b) < ((n-1)/Strip*pitch+depth)*Strip {
		panic("BUG: gemm: wrong sizes of a product with strips")
	}
	whole := n / Strip * Strip
	for at := 0; at < depth; at += depthMax {
		for j := 0; j < whole; j += Strip {
			evenly(m, 6, func(i, rows, tiles int) {
				stripTile(rows, &c[i*n+j], &a[i*stride+at], &b[j*pitch+at*Strip], n, stride, min(depthMax, depth-at), tiles,
					add || at > 0)
			})
		}
	}
	if whole < n {
		mulLast(c[whole:], a, stride, b[whole*pitch:], m, n, n-whole, depth, add)
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
	most, narrow := 6, columns <= Strip/2
	if narrow {
		most = 12
	}
	for from := 0; from < m; from += lastRows {
		rows, c, a := min(m-from, lastRows), c[from*n:], a[from*stride:]
		for r := 0; add && r < rows; r++ {
			copy(sums[r*Strip:][:columns], c[r*n:])
		}
		for at := 0; at < depth; at += depthMax {
			evenly(rows, most, func(i, high, tiles int) {
				to, left, right := &sums[i*Strip], &a[i*stride+at], &b[at*Strip]
				if narrow {
					halfTile(high, to, left, right, Strip, stride, min(depthMax, depth-at), tiles, add || at > 0)
				} else {
					stripTile(high, to, left, right, Strip, stride, min(depthMax, depth-at), tiles, add || at > 0)
				}
			})
		}
		for r := range rows {
			for j, f := range sums[r*Strip:][:columns] {
				c[r*n+j] = f
			}
		}
	}
}

// Rows are rows of a matrix that lie in memory, n elements each and stride apart.
type Rows[T float32 | half] struct {
	Elements         []T
	Count, N, Stride int
}

// packRows is the rows that PackStrips copies in a call, during which a goroutine cannot be preempted.
const packRows = 64

// PackStrips copies rows into strips that begin pitch rows apart, from row at on and step apart there.
func PackStrips[T float32 | half](dst []float32, pitch, at, step int, r Rows[T]) {
	if r.Count == 0 || r.N == 0 {
		return
	}
	if last := at + (r.Count-1)*step; at < 0 || step < 1 || last >= pitch || r.Stride < 0 ||
		len(dst) < ((r.N-1)/Strip*pitch+last+1)*Strip || len(r.Elements) < (r.Count-1)*r.Stride+r.N {
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
		packStrips(&dst[(at+i*step)*Strip], &r.Elements[i*r.Stride], min(packRows, safe-i), wide, step, pitch, r.Stride)
	}
	for i := safe; i < r.Count; i++ {
		row, to := r.Elements[i*r.Stride:][:r.N], dst[(at+i*step)*Strip:]
		if r.N >= Strip {
			packStrips(&to[0], &row[0], 1, r.N/Strip, step, pitch, 0)
		}
		if whole := r.N / Strip * Strip; whole < r.N {
			var last [Strip]T
			copy(last[:], row[whole:])
			packStrips(&to[whole*pitch], &last[0], 1, 1, step, pitch, 0)
		}
	}
}

func packStrips[T float32 | half](dst *float32, src *T, rows, strips, step, pitch, stride int) {
	switch src := any(src).(type) {
	case *float32:
		stripFloats(dst, src, rows, strips, step*Strip, pitch*Strip, stride)
	case *half:
		stripHalves(dst, src, rows, strips, step*Strip, pitch*Strip, stride)
	}
}

// TurnStrip writes rows of halves as the columns of one strip, from its first row on. There are as many rows as a strip
// has columns, or fewer.
func TurnStrip(strip []float32, r Rows[half]) {
	if r.Count < 1 || r.Count > Strip || len(strip) < r.N*Strip || len(r.Elements) < (r.Count-1)*r.Stride+r.N {
		panic("BUG: gemm: wrong sizes of rows for a strip")
	}
	if last := r.N - Strip; r.Count == Strip && last >= 0 {
		stripTurned(&strip[0], &r.Elements[0], r.N/Strip, r.Stride)
		stripTurned(&strip[last*Strip], &r.Elements[last], 1, r.Stride) // overlaps those before
		return
	}
	for j := range r.Count {
		for i, h := range r.Elements[j*r.Stride:][:r.N] {
			strip[i*Strip+j] = h.Float32()
		}
	}
}

// DecodeRows writes the numbers of halves as rows that begin stride elements apart.
func DecodeRows(dst []float32, stride int, r Rows[half]) {
	if r.Count < 1 || stride < r.N || len(dst) < (r.Count-1)*stride+r.N || len(r.Elements) < (r.Count-1)*r.Stride+r.N {
		panic("BUG: gemm: wrong sizes of rows")
	}
	const piece = 32
	whole := r.N / piece * piece
	if whole > 0 {
		decodeRows(&dst[0], &r.Elements[0], r.Count, whole/piece, stride, r.Stride)
	}
	for i := 0; i < r.Count && whole < r.N; i++ {
		fp16.Decode(dst[i*stride:][whole:r.N], r.Elements[i*r.Stride:][whole:])
	}
}

// DecodeLines is DecodeRows for short rows: it calls no function for a row. A row below eight elements writes 0 to those
// after it until there are eight, so that rows are in order and dst has room for them.
func DecodeLines(dst []float32, stride int, r Rows[half]) {
	const eight = 8
	if min(r.Count, r.N) < 1 || stride < r.N || r.Stride < 0 || len(dst) < (r.Count-1)*stride+max(r.N, eight) ||
		len(r.Elements) < (r.Count-1)*r.Stride+r.N {
		panic("BUG: gemm: wrong sizes of rows")
	}
	keep, safe := [2 * eight]half{}, r.Count
	for i := range min(r.N, eight) {
		keep[i] = 0xffff
	}
	if r.N < eight { // the last rows may end where x does
		safe = 0
		if more := len(r.Elements) - eight; more >= 0 {
			safe = min(r.Count, more/max(r.Stride, 1)+1)
		}
	}
	if safe > 0 {
		decodeLines(&dst[0], &r.Elements[0], &keep[0], safe, (r.N-1)/eight, max(r.N-eight, 0), stride, r.Stride)
	}
	for i := safe; i < r.Count; i++ {
		to := dst[i*stride:][:eight]
		clear(to)
		for j, h := range r.Elements[i*r.Stride:][:r.N] {
			to[j] = h.Float32()
		}
	}
}

// Turned is the rows that Turn takes together.
const Turned = 8

// Turn sets dst to the first columns of some rows, which are from elements apart, as rows that are to elements apart.
// It changes nothing between these, and shares no memory.
func Turn(dst []float32, to int, src []float32, rows, columns, from int) {
	if min(rows, columns) < 1 || from < columns || to < rows || len(dst) < (columns-1)*to+rows ||
		len(src) < (rows-1)*from+columns {
		panic("BUG: gemm: wrong sizes of a turned matrix")
	}
	if machine >= simd.AVX2 && min(rows, columns) >= Turned {
		// The last eights overlap those before.
		turnEights(&dst[0], &src[0], columns/8, rows/8, to, from)
		if rows%8 > 0 {
			turnEights(&dst[rows-8], &src[(rows-8)*from], columns/8, 1, to, from)
		}
		if at := columns - 8; columns%8 > 0 {
			turnEights(&dst[at*to], &src[at], 1, rows/8, to, from)
			turnEights(&dst[at*to+rows-8], &src[(rows-8)*from+at], 1, 1, to, from)
		}
		return
	}
	i := 0
	for ; i+Turned <= rows; i += Turned {
		row := func(e int) []float32 { return src[(i+e)*from:][:columns] }
		a, b, c, d, e, f, g, h := row(0), row(1), row(2), row(3), row(4), row(5), row(6), row(7)
		for j := range columns {
			column := (*[Turned]float32)(dst[j*to+i:])
			column[0], column[1], column[2], column[3] = a[j], b[j], c[j], d[j]
			column[4], column[5], column[6], column[7] = e[j], f[j], g[j], h[j]
		}
	}
	for ; i < rows; i++ {
		for j, f := range src[i*from:][:columns] {
			dst[j*to+i] = f
		}
	}
}

// Fetch asks the caches for the rows that x begins with and that are soon read or written: as many as r says, or as
// there are, and like those.
func Fetch(x []half, r Rows[half]) {
	const line = 32
	n := min(r.Count, (len(x)-r.N)/max(r.Stride, 1)+1)
	if machine == simd.AVX2 && n > 0 && r.N > 0 && len(x) >= r.N {
		fetchRows(&x[0], n, (r.N+line-1)/line, r.Stride)
	}
}
