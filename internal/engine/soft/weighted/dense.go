package weighted

import (
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft/internal/gemm"
	"github.com/anekit/anekit/internal/engine/soft/run"
)

// denseMost is the most vectors for which strips of the matrix, each made once, take longer.
const denseMost = 64

// Dense is Packed for a matrix of halves, operand 1. It returns nil for one vector and for more than denseMost, and if
// package gemm has no Dots for the matrix.
func Dense(n, rows, cols int, bias bool) (run.Runner, int) {
	if n < 2 || n > denseMost || rows < piece || cols > longest || !gemm.Dotted(cols) {
		return nil, 0
	}
	r := &product{rows: rows, cols: cols, n: n, most: denseMost, bias: bias}
	return r, r.sums() + n*cols
}

// dense computes the products with a piece of rows of halves from row on, or with those that there are.
func (f *factor) dense(c *run.Call, sums []float32, row int) {
	at := min(row, f.rows-piece) // the last ones overlap those before
	gemm.Dots(sums[:f.n*piece], f.x[:f.n*f.cols], gemm.Rows[fp16.Bits]{Elements: c.In[1].Half[at*f.cols:], Count: piece,
		N: f.cols, Stride: f.cols})
	for v := 0; v < f.n && at < row; v++ {
		copy(sums[v*piece:][:piece], sums[v*piece+row-at:(v+1)*piece])
	}
}
