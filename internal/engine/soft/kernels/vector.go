package kernels

import (
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/element"
	"github.com/anekit/anekit/internal/engine/soft/internal/gemm"
	"github.com/anekit/anekit/internal/engine/soft/internal/halves"
	"github.com/anekit/anekit/internal/engine/soft/internal/packed"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/engine/soft/weighted"
	"github.com/anekit/anekit/internal/numerics"
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
	weights        *packed.Weights // the matrix, if it stays packed
	lines          bool            // sums are those of gemm.MulLines
}

// Limits of vectorProduct: a smaller matrix is not worth it, and a longer vector takes too large a workspace.
const (
	vectorLeast = 1 << 12
	vectorMost  = 1 << 20
	vectorCols  = 2048 // sums of one piece, if the matrix has a column for each
	vectorRows  = 32   // likewise rows, also those of a packed matrix
	vectorFew   = 16   // rows for which a product of matrices is slower
	vectorStrip = 12   // such rows, in fours if there are more, for which one with strips is slower
)

// newVectorProduct returns nil if package halves has no kernel for the operands. across tells that the matrix has a
// column for each sum, else it has a row.
func newVectorProduct(s *Step, r vectorProduct) (run.Runner, int) {
	if !halves.Vectors() || !s.halved() || s.In[1].DType != s.In[0].DType || r.k*r.n < vectorLeast ||
		r.k > vectorMost || r.few > vectorFew || !r.across && r.n < vectorRows ||
		gemm.Strips() && r.few > 4 && (r.few > vectorStrip || r.few%4 != 0) {
		return nil, 0
	}
	r.lines = s.Arith.Words && !r.across && gemm.Strips()
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
	share := c.Spread
	if r.weights != nil {
		share = c.Deal
	}
	share(ops.Volume(r.batch)*r.pieces(), min(r.piece(), r.n)*r.k*r.few)
}

func (r *vectorProduct) Span(c *run.Call, lo, hi, worker int) {
	next := func() (i int, ok bool) {
		if r.weights != nil {
			return c.Take()
		}
		lo++
		return lo - 1, lo <= hi
	}
	work := roomOf(c, worker)
	vector, sums, spare := work.take(r.few*r.k), work.take(r.few*vectorCols), work.take(vectorCols)
	var arranged packed.Vector
	loaded := -1
	for i, ok := next(); ok && !c.Pause(worker); i, ok = next() {
		batch, from := i/r.pieces(), i%r.pieces()*r.piece()
		if batch != loaded {
			c.In[r.vector].Load(vector, offset(batch, r.batch, r.byVector)*r.few*r.k)
			if r.weights != nil {
				arranged = r.weights.Arrange(vector, work.take(r.weights.VectorRoom()))
			}
			loaded = batch
		}
		to := min(from+r.piece(), r.n)
		switch {
		case r.weights != nil:
			r.weights.Dots(sums[:to-from], &arranged, work.floats, from)
		case r.across:
			matrix := c.In[r.matrix].Half[offset(batch, r.batch, r.byMatrix)*r.k*r.n:]
			clear(sums[:r.few*(to-from)])
			for k := 0; k < r.k && !c.Pause(worker); k += 32 {
				halves.MulFew(sums[:r.few*(to-from)], to-from, vector[k:], r.k, min(32, r.k-k), matrix[k*r.n+from:],
					r.n)
			}
		default:
			matrix := c.In[r.matrix].Half[offset(batch, r.batch, r.byMatrix)*r.k*r.n:]
			if r.lines {
				gemm.MulLines(sums[:to-from], vector, gemm.Rows[fp16.Bits]{Elements: matrix[from*r.k:], Count: to - from,
					N: r.k, Stride: r.k})
				break
			}
			from = to - min(vectorRows, to) // the last piece overlaps the one before: to the same bits
			halves.Dots((*[vectorRows]float32)(sums), vector, matrix[from*r.k:], matrix[to*r.k:], r.k)
		}
		if r.bias {
			bias := spare[:to-from]
			c.In[2].Load(bias, from)
			gemm.AddBias(sums[:to-from], bias, false)
		}
		for row := range r.few {
			c.Out[0].Store(sums[row*(to-from):][:to-from], (batch*r.few+row)*r.n+from)
		}
	}
}

// PackedAttrs are the settings of an operator with a packed weight: integers with scales and offsets, as
// constexpr_blockwise_shift_scale takes them. Its node has that operator's data in place of the weight, and scale and
// offset after the other operands.
type PackedAttrs struct {
	Attrs      any
	At         int // index of the weight
	Scale      int // index of the scale; the offset follows
	Rows, Cols int // of the weight as a matrix
	High, Wide int // of a block
}

// IsPacked reports whether operand i of a node has elements as they are stored.
func (p *PackedAttrs) IsPacked(i int) bool { return p != nil && (i == p.At || i == p.Scale+1) }

// Unwrap returns the settings of a step, and those of its packed weight.
func Unwrap(attrs any) (any, *PackedAttrs) {
	if p, ok := attrs.(PackedAttrs); ok {
		return p.Attrs, &p
	}
	return attrs, nil
}

// weights describes operand at of a step that has it packed, else it is nil.
func (s *Step) weights(at int) *packed.Weights {
	p := s.Packed
	if p == nil || p.At != at {
		return nil
	}
	data, scale, offset := s.In[at], s.In[p.Scale], s.In[p.Scale+1]
	w := &packed.Weights{Data: data.Data.Raw, Bits: data.DType.Bits(), Signed: !data.DType.Unsigned(), Rows: p.Rows,
		Cols: p.Cols, High: p.High, Wide: p.Wide, Scale: scale.Data.Half}
	if !data.Stored {
		w.Width = 8
	}
	switch {
	case !offset.Given:
	case offset.DType == mil.FP16:
		w.OffsetHalf = offset.Data.Half
	case offset.DType == mil.FP32:
		w.OffsetSingle = offset.Data.Single
	case offset.Stored:
		w.OffsetByte = element.Unpack(offset.DType, offset.Data.Raw, ops.Volume(offset.Shape))
	default:
		w.OffsetByte = offset.Data.Raw
	}
	w.Read = s.Arith.Operand
	w.Written = w.Read & numerics.HalfAway // as constexpr operators round
	return w
}

func (s *Step) readsHalves(i int) bool {
	return s.In[i].DType == mil.FP16 || s.Packed != nil && s.Packed.At == i
}

// newPackedProduct returns nil if the product of n vectors with each row of operand at is one of matrices of floats or,
// without words, of halves.
func newPackedProduct(s *Step, at, n int, bias bool) (run.Runner, int) {
	w := s.weights(at)
	if w == nil && at == 1 && s.Arith.Words && s.halved() && s.In[1].DType == mil.FP16 {
		cols := s.In[0].len() / n
		return weighted.Dense(n, s.In[1].len()/cols, cols, bias)
	}
	if w == nil || s.Arith.Operand != 0 {
		return nil, 0
	}
	if s.Arith.Words {
		if r, work := weighted.Packed(w, 1-at, n, bias); r != nil {
			return r, work
		}
	}
	if n > 1 || !w.Fits() || w.Cols > vectorMost {
		return nil, 0
	}
	w.Remember()
	return &vectorProduct{vector: 1 - at, few: 1, k: w.Cols, n: w.Rows, bias: bias, weights: w},
		w.Cols + 2*vectorCols + w.VectorRoom() + w.Room(vectorRows)
}
