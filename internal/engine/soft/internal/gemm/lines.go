package gemm

// lineBlock is the columns that MulLines adds at once.
const lineBlock = 32

// MulLines sets sums to the products of a vector with as many rows of halves, one row after the other. Elements of the
// vector are halves, so that every product is exact. A sum is not in the order of the columns: of each block of 32
// columns, column k is added to part k of the row, and the parts are added in rounds, first those that are 16 apart,
// then 8, 4, 2 and 1. Columns after the last whole block have parts of their own, which are added last.
func MulLines(sums, vector []float32, r Rows[half]) {
	if r.Count != len(sums) || r.N != len(vector) || r.Stride < r.N ||
		r.Count > 0 && len(r.Elements) < (r.Count-1)*r.Stride+r.N {
		panic("BUG: gemm: wrong sizes of rows for a vector")
	}
	clear(sums)
	whole := r.N / lineBlock * lineBlock
	if whole > 0 {
		addLines(sums, vector[:whole], r.Elements, r.Stride)
	}
	if whole == r.N {
		return
	}
	var last [lineBlock]float32
	copy(last[:], vector[whole:])
	for i := range sums {
		var row [lineBlock]half
		copy(row[:], r.Elements[i*r.Stride+whole:][:r.N-whole])
		addLines(sums[i:i+1], last[:], row[:], lineBlock)
	}
}

// addLines adds the products of a vector of whole blocks to sums.
func addLines(sums, vector []float32, x []half, stride int) {
	if len(sums) == 0 {
		return
	}
	if Strips() {
		halfLines(&sums[0], &vector[0], &x[0], len(sums), len(vector)/lineBlock, stride)
		return
	}
	for i := range sums {
		var parts [lineBlock]float32
		for k, f := range vector {
			parts[k%lineBlock] += float32(f * x[i*stride+k].Float32())
		}
		for n := lineBlock / 2; n > 0; n /= 2 {
			for k := range n {
				parts[k] += parts[k+n]
			}
		}
		sums[i] += parts[0]
	}
}
