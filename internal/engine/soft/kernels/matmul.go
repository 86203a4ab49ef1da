package kernels

import (
	"github.com/anekit/anekit/ane/mil"
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
		return integerProduct(a, byX, byY, bias), 0
	}
	row, column := a.M == 1 && a.TransposeY, a.N == 1 && !a.TransposeX
	if (row || column) && ops.Volume(a.Batch) == 1 {
		at := 0
		if row {
			at = 1
		}
		if r, work := newPackedVector(s, at, bias); r != nil {
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
	return newMatrices(&matrices{x: newOperand(s, 0, a.M, a.K, a.TransposeX, true),
		y:  newOperand(s, 1, a.K, a.N, a.TransposeY, s.In[1].len() < largeWeight),
		xs: path{a.Batch, byX}, ys: path{a.Batch, byY}, rowMajor: true, given: bias,
		out: [3]path{{[]int{ops.Volume(a.Batch)}, []int{a.M * a.N}}, {[]int{a.M}, []int{a.N}}, {[]int{a.N}, []int{1}}}})
}

// matrices are the panels of matmul, linear and einsum.
type matrices struct {
	x, y     operand
	xs, ys   path    // their matrices through the batch
	out      [3]path // of the result: through the batch, rows and columns
	rowMajor bool    // the result is dense
	given    bool    // a bias of linear: input 2 is added to every row
}

func newMatrices(p *matrices) (run.Runner, int) {
	return newProduct(p.out[0].len(), p.x.rows, p.x.cols, p.y.cols, max(p.x.room(2*tileRows), p.y.room(p.y.rows)), p)
}

func (p *matrices) left(c *run.Call, dst, spare []float32, batch, m0, m1 int) []float32 {
	return p.x.block(c, dst, spare, p.xs.at(batch), m0, m1, 0, p.x.cols)
}

func (p *matrices) right(c *run.Call, dst, spare []float32, batch, n0, n1 int) []float32 {
	return p.y.block(c, dst, spare, p.ys.at(batch), 0, p.y.rows, n0, n1)
}

func (p *matrices) bias(c *run.Call, dst []float32, _, _, _, n0, n1 int) (b []float32, byRow bool) {
	if !p.given {
		return nil, false
	}
	b = dst[:n1-n0]
	c.In[2].Load(b, n0)
	return b, false
}

func (p *matrices) store(c *run.Call, tile, _ []float32, batch, m0, m1, n0, n1 int) {
	base := p.out[0].at(batch)
	if p.rowMajor && n1-n0 == p.y.cols {
		c.Out[0].Store(tile, base+p.out[1].at(m0))
		return
	}
	for m := m0; m < m1; m++ {
		p.out[2].each(tile[(m-m0)*(n1-n0):][:n1-n0], base+p.out[1].at(m), n0, c.Out[0].Store)
	}
}

// integerProduct is a product of int32 matrices, whose sums wrap around. Its items are the rows of the result, counted
// through the batch.
func integerProduct(a ops.Matmul, byX, byY []int, bias bool) run.Runner {
	xRow, xStep, yStep, yCol, cost := a.K, 1, a.N, 1, a.K
	if a.TransposeX {
		xRow, xStep = 1, a.M
	}
	if a.TransposeY {
		yStep, yCol = 1, a.K
	}
	if a.N <= 1<<31/max(a.K, 1) {
		cost *= a.N
	}
	return newLoop(ops.Volume(a.Batch)*a.M, cost, 1, func(c *run.Call, i, _, worker int) {
		x := c.In[0].Ints[offset(i/a.M, a.Batch, byX)*a.M*a.K+i%a.M*xRow:]
		y := c.In[1].Ints[offset(i/a.M, a.Batch, byY)*a.K*a.N:]
		for col := 0; col < a.N && !c.Pause(worker); col++ {
			var sum int32
			for k := range a.K {
				sum += x[k*xStep] * y[k*yStep+col*yCol]
			}
			if bias {
				sum += c.In[2].Ints[col]
			}
			c.Out[0].Ints[i*a.N+col] = sum
		}
	})
}

// einsum multiplies matrices that lie anywhere in the operands.
func einsum(s *Step) (run.Runner, int) {
	e := s.Attrs.(ops.Einsum)
	x, y, out := func(a ops.Axis) int { return a.X }, func(a ops.Axis) int { return a.Y },
		func(a ops.Axis) int { return a.Out }
	in := path{[]int{ops.Volume(s.Out[0].Shape)}, []int{1}}
	return newMatrices(&matrices{x: scattered(0, [3]path{along(e.Batch, x), along(e.M, x), along(e.K, x)}),
		y: scattered(1, [3]path{along(e.Batch, y), along(e.K, y), along(e.N, y)}), xs: in, ys: in,
		out: [3]path{along(e.Batch, out), along(e.M, out), along(e.N, out)}})
}

// path visits elements in the order of some axes.
type path struct{ dims, by []int }

// along returns a path of at least one axis.
func along(axes []ops.Axis, by func(ops.Axis) int) path {
	var dims, strides []int
	for _, a := range axes {
		dims, strides = append(dims, a.Length), append(strides, by(a))
	}
	merged, mergedBy := merge(dims, strides)
	return path{merged, mergedBy[0]}
}

func (p *path) len() int { return ops.Volume(p.dims) }

// at returns the offset of element i.
func (p *path) at(i int) int { return offset(i, p.dims, p.by) }

// dense reports whether neighbours lie side by side.
func (p *path) dense() bool { return p.by[len(p.by)-1] == 1 }

// each has f load or store elements from, from+1, .. of a path that starts at base, a run at a time.
func (p *path) each(list []float32, base, from int, f func(some []float32, at int)) {
	for len(list) > 0 {
		n := 1
		if p.dense() {
			row := p.dims[len(p.dims)-1]
			n = min(row-from%row, len(list))
		}
		f(list[:n], base+p.at(from))
		list, from = list[n:], from+n
	}
}
