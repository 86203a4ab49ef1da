package kernels

import (
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/soft/matrix"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
)

// matmul multiplies the matrices in the last two axes of x and y.
func matmul(s *Step) (run.Runner, int) { return s.multiply(s.Attrs.(ops.Matmul), false) }

// linear multiplies the rows of x by the transposed weight and adds the bias.
func linear(s *Step) (run.Runner, int) {
	w := s.In[1].Shape
	return s.multiply(ops.Matmul{M: s.In[0].len() / w[1], K: w[1], N: w[0], TransposeY: true}, s.In[2].Given)
}

// multiply multiplies matrices, and adds input 2 to every row if there is a bias.
func (s *Step) multiply(a ops.Matmul, bias bool) (run.Runner, int) {
	byX, byY := repeated(a.Batch, a.BatchX), repeated(a.Batch, a.BatchY)
	if s.Out[0].DType == mil.Int32 {
		return &matrix.Integers{Matmul: a, ByX: byX, ByY: byY, Bias: bias}, 0
	}
	row, column := a.TransposeY && !a.TransposeX, a.N == 1 && !a.TransposeX
	if (row || column) && ops.Volume(a.Batch) == 1 {
		at, n := 0, 1
		if row {
			at, n = 1, a.M
		}
		if r, work := newPackedProduct(s, at, n, bias); r != nil {
			return r, work
		}
	}
	if a.M == 1 || !a.TransposeX && !a.TransposeY {
		if r, work := newVectorProduct(s, vectorProduct{matrix: 1, few: a.M, k: a.K, n: a.N, across: !a.TransposeY,
			batch: a.Batch, byMatrix: byY, byVector: byX, bias: bias}); r != nil {
			return r, work
		}
	}
	if a.N == 1 && !bias {
		if r, work := newVectorProduct(s, vectorProduct{vector: 1, few: 1, k: a.K, n: a.M, across: a.TransposeX,
			batch: a.Batch, byMatrix: byX, byVector: byY}); r != nil {
			return r, work
		}
	}
	y := matrix.Operand{Index: 1, Rows: a.K, Cols: a.N, Flip: a.TransposeY, Weights: s.weights(1),
		InStrips: s.inStrips(a.M)}
	if s.In[1].len() < largeWeight {
		s.decode(&y)
	}
	return newMatrices(&matrices{x: newOperand(s, 0, a.M, a.K, a.TransposeX, true), y: y,
		xs: matrix.Path{Dims: a.Batch, By: byX}, ys: matrix.Path{Dims: a.Batch, By: byY}, rowMajor: true, given: bias,
		out: [3]matrix.Path{{Dims: []int{ops.Volume(a.Batch)}, By: []int{a.M * a.N}},
			{Dims: []int{a.M}, By: []int{a.N}}, {Dims: []int{a.N}, By: []int{1}}}})
}

// matrices are the panels of matmul, linear and einsum.
type matrices struct {
	x, y     matrix.Operand
	xs, ys   matrix.Path    // their matrices through the batch
	out      [3]matrix.Path // of the result: through the batch, rows and columns
	rowMajor bool           // the result is dense
	given    bool           // a bias of linear: input 2 is added to every row
}

func newMatrices(p *matrices) (run.Runner, int) {
	return newProduct(p.out[0].Len(), p.x.Rows, p.x.Cols, p.y.Cols, max(p.x.Room(matrix.Depth), p.y.Room(p.y.Rows)), p)
}

func (p *matrices) left(c *run.Call, dst, spare []float32, batch, m0, m1 int) []float32 {
	return p.x.Block(c, dst, spare, p.xs.At(batch), m0, m1, 0, p.x.Cols)
}

func (p *matrices) right(c *run.Call, dst, spare []float32, batch, n0, n1 int) []float32 {
	return p.y.Block(c, dst, spare, p.ys.At(batch), 0, p.y.Rows, n0, n1)
}

func (p *matrices) unit() int {
	if p.y.InStrips {
		return 1
	}
	return 0
}

func (p *matrices) part(
	c *run.Call, dst, spare []float32, batch, m0, m1, k0, k1 int,
) (a []float32, stride int) {
	return p.x.Part(c, dst, spare, p.xs.At(batch), m0, m1, k0, k1)
}

func (p *matrices) strips(
	c *run.Call, dst, spare []float32, batch, k0, k1, n0, n1 int,
) (b []float32, pitch int) {
	return p.y.Strips(&c.In[p.y.Index], dst, spare, p.ys.At(batch), k0, k1, n0, n1)
}

func (p *matrices) bias(c *run.Call, dst []float32, _, _, _, n0, n1 int) (b []float32, byRow bool) {
	if !p.given {
		return nil, false
	}
	b = dst[:n1-n0]
	c.In[2].Load(b, n0)
	return b, false
}

func (p *matrices) store(c *run.Call, tile, _ []float32, batch, m0, m1, n0, n1, _ int) {
	base := p.out[0].At(batch)
	if p.rowMajor && n1-n0 == p.y.Cols {
		c.Out[0].Store(tile, base+p.out[1].At(m0))
		return
	}
	for m := m0; m < m1; m++ {
		p.out[2].Each(tile[(m-m0)*(n1-n0):][:n1-n0], base+p.out[1].At(m), n0, c.Out[0].Store)
	}
}

// einsum multiplies matrices that lie anywhere in the operands.
func einsum(s *Step) (run.Runner, int) {
	e := s.Attrs.(ops.Einsum)
	x, y, out := func(a ops.Axis) int { return a.X }, func(a ops.Axis) int { return a.Y },
		func(a ops.Axis) int { return a.Out }
	in := matrix.Path{Dims: []int{ops.Volume(s.Out[0].Shape)}, By: []int{1}}
	p := &matrices{x: matrix.Scattered(0, [3]matrix.Path{along(e.Batch, x), along(e.M, x), along(e.K, x)}),
		y: matrix.Scattered(1, [3]matrix.Path{along(e.Batch, y), along(e.K, y), along(e.N, y)}), xs: in, ys: in,
		out: [3]matrix.Path{along(e.Batch, out), along(e.M, out), along(e.N, out)}}
	p.y.InStrips = s.inStrips(p.x.Rows)
	return newMatrices(p)
}

// along returns a path of at least one axis.
func along(axes []ops.Axis, by func(ops.Axis) int) matrix.Path {
	var dims, strides []int
	for _, a := range axes {
		dims, strides = append(dims, a.Length), append(strides, by(a))
	}
	merged, mergedBy := merge(dims, strides)
	return matrix.Path{Dims: merged, By: mergedBy[0]}
}
