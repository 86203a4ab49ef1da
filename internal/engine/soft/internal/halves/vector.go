package halves

import (
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft/internal/simd"
)

// machine selects the kernels. AVX2 and AVX512 have all; simd.Neon has operations on elements, sums of runs, and what
// layer_norm and softmax do except the exponential. Only tests change it, to run other code than the best. The assembly
// reads it.
var machine = simd.Best()

const avx512 = simd.AVX512 // for the assembly

// Vectors reports whether every operation has a kernel on this machine: elsewhere a product of matrices is as quick as
// MulFew and Dots.
func Vectors() bool { return machine >= simd.AVX2 }

// MulRows adds to each of sums its column of the product of a vector and a matrix, in the order of the rows. The
// vector has an element for each row; rows are as long as sums and stride elements apart. Elements of the vector are
// halves, so that every product is exact.
func MulRows(sums, vector []float32, x []fp16.Bits, stride int) {
	full, rows := 0, len(vector)
	if Vectors() && rows > 0 && len(sums) >= block {
		full = len(sums) / block * block
		_ = x[(rows-1)*stride+len(sums)-1]
		for r := 0; r < rows; r += 8 {
			mulRowsVector(&sums[0], &vector[r], &x[r*stride], full/block, min(rows-r, 8), 2*stride)
		}
	}
	for r, f := range vector {
		for i := full; i < len(sums); i++ {
			sums[i] += float32(f * x[r*stride+i].Float32())
		}
	}
}

// dotRows is how many rows Dots takes. It reads the columns of a part before those after it, so that the next part is
// in the second-level cache when the rows of this one are summed.
const (
	dotRows = 32
	dotPart = 1 << 12 // the most columns of a part
	dotStep = 256     // and of what they are a multiple, except the last
)

// Dots sets sums to the products of dotRows rows of a matrix with a vector, each summed in order. The rows are as
// long as the vector, whose elements are halves, and stride elements apart. next is the matrix after these rows, or
// nil.
func Dots(sums *[dotRows]float32, vector []float32, x, next []fp16.Bits, stride int) {
	_ = x[(dotRows-1)*stride+len(vector)-1]
	clear(sums[:])
	if !Vectors() {
		for i := range sums {
			for k, b := range x[i*stride:][:len(vector)] {
				sums[i] += float32(vector[k] * b.Float32())
			}
		}
		return
	}
	var room [2 * tile * dotRows]fp16.Bits
	part := most / dotRows
	if machine != avx512 {
		parts := max(1, (len(vector)+dotPart-1)/dotPart)
		part = (len(vector)/parts + dotStep - 1) / dotStep * dotStep
	}
	for len(vector) >= tile {
		n := min(len(vector)/tile*tile, part)
		var fetch *fp16.Bits
		run := stride
		switch {
		case machine == avx512: // without gaps, which the second-level cache has to have room for
			if len(next) >= n*dotRows && stride*dotRows <= 1<<17 {
				fetch, next = &next[0], next[n*dotRows:]
			}
		case len(vector)-n >= tile:
			fetch, run = &x[n], min(part, len(vector)-n)
		case len(next) > 0:
			fetch, run = &next[0], min(part, stride)
		}
		dotsVector(sums, &vector[0], &x[0], &room[0], fetch, n/tile, 2*stride, 2*run)
		vector, x = vector[n:], x[n:]
	}
	if n := len(vector); n > 0 { // the rest and products that are +0
		var tail [tile * dotRows]fp16.Bits
		var last [tile]float32
		copy(last[:], vector)
		for i := range dotRows {
			copy(tail[i*tile:][:n], x[i*stride:])
		}
		dotsVector(sums, &last[0], &tail[0], &room[0], nil, 1, 2*tile, 2*tile)
	}
}

// fewCols is the columns in one step of the assembly of MulFew.
const fewCols = 32

// MulFew is MulRows for several vectors: vector i begins at vectors[i*k], has n elements, and its sums are
// sums[i*width:][:width].
func MulFew(sums []float32, width int, vectors []float32, k, n int, x []fp16.Bits, stride int) {
	few, i := len(sums)/width, 0
	if full := width / fewCols * fewCols; Vectors() && full > 0 && n > 0 {
		_ = x[(n-1)*stride+width-1]
		for r := 0; r < n; r += 8 {
			for i = 0; i+4 <= few; i += 4 {
				_ = vectors[(i+3)*k+n-1]
				mulFourVector(&sums[i*width], &vectors[i*k+r], &x[r*stride], full/fewCols, min(n-r, 8), 2*stride,
					4*width, 4*k)
			}
		}
		for j := 0; j < i && full < width; j++ {
			MulRows(sums[j*width+full:(j+1)*width], vectors[j*k:][:n], x[full:], stride)
		}
	}
	for ; i < few; i++ {
		MulRows(sums[i*width:][:width], vectors[i*k:][:n], x, stride)
	}
}
