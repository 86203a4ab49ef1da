package kernels

import (
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft/internal/halves"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
)

// vectorProduct is a product of one row, a few rows or one column with matrices, which it reads once and as they are
// in memory. Its sums are those of product.
type vectorProduct struct {
	matrix, vector int // indexes of the operands
	k, n           int // terms of a sum; sums
	few            int // rows, each a vector; 1 for a column
	across         bool
	bias           bool
	batch          []int // and the strides of matrix and vector along its axes, in matrices and vectors
	byMatrix       []int
	byVector       []int
}

// Limits of vectorProduct: a smaller matrix is not worth it, and a longer vector takes too large a workspace.
const (
	vectorLeast = 1 << 12
	vectorMost  = 1 << 20
	vectorCols  = 2048    // sums of one piece, if the matrix has a column for each
	vectorRows  = 32      // likewise rows
	vectorFew   = 16      // rows for which a product of matrices is slower
	vectorAhead = 1 << 17 // halves of a piece that are fetched while the piece before it is summed
)

// newVectorProduct returns nil if package halves has no kernel for the operands. across tells that the matrix has a
// column for each sum, else it has a row.
func newVectorProduct(s *Step, r vectorProduct) (run.Runner, int) {
	if !halves.Vectors() || !s.halved() || s.In[1].DType != s.In[0].DType || r.k*r.n < vectorLeast ||
		r.k > vectorMost || r.few > vectorFew || !r.across && r.n < vectorRows {
		return nil, 0
	}
	return &r, r.few*(r.k+vectorCols) + vectorCols
}

// piece is how many sums one piece of work has.
func (r *vectorProduct) piece() int {
	if r.across {
		return vectorCols / min(r.few, 8)
	}
	return vectorRows
}

func (r *vectorProduct) pieces() int { return (r.n + r.piece() - 1) / r.piece() }

func (r *vectorProduct) Run(c *run.Call) {
	c.Spread(ops.Volume(r.batch)*r.pieces(), min(r.piece(), r.n)*r.k*r.few)
}

func (r *vectorProduct) Span(c *run.Call, lo, hi, worker int) {
	work := c.Work[worker]
	vector, sums, spare := work[:r.few*r.k], work[r.few*r.k:], work[r.few*(r.k+vectorCols):]
	loaded := -1
	for i := lo; i < hi && !c.Pause(worker); i++ {
		batch, from := i/r.pieces(), i%r.pieces()*r.piece()
		if batch != loaded {
			c.In[r.vector].Load(vector, offset(batch, r.batch, r.byVector)*r.few*r.k)
			loaded = batch
		}
		matrix := c.In[r.matrix].Half[offset(batch, r.batch, r.byMatrix)*r.k*r.n:]
		to := min(from+r.piece(), r.n)
		if r.across {
			clear(sums[:r.few*(to-from)])
			for k := 0; k < r.k && !c.Pause(worker); k += 32 {
				halves.MulFew(sums[:r.few*(to-from)], to-from, vector[k:], r.k, min(32, r.k-k), matrix[k*r.n+from:],
					r.n)
			}
		} else {
			from = to - min(vectorRows, to) // the last piece overlaps the one before: to the same bits
			var next []fp16.Bits
			if r.k*vectorRows <= vectorAhead {
				next = matrix[to*r.k:]
			}
			halves.Dots((*[vectorRows]float32)(sums), vector, matrix[from*r.k:], next, r.k)
		}
		if r.bias {
			bias := spare[:to-from]
			c.In[2].Load(bias, from)
			for j, b := range bias {
				sums[j] += b
			}
		}
		for row := range r.few {
			c.Out[0].Store(sums[row*(to-from):][:to-from], (batch*r.few+row)*r.n+from)
		}
	}
}
