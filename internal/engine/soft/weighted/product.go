// Package weighted multiplies vectors by weights that stay packed. Package kernels has it in its table.
package weighted

import (
	"github.com/anekit/anekit/internal/engine/soft/internal/packed"
	"github.com/anekit/anekit/internal/engine/soft/run"
)

// Product returns the runner of the products of n vectors, the rows of an operand, with each row of w, and the float32s
// of workspace that each worker needs. bias tells that input 2 is added to each result. It returns nil for one vector and
// integers of 4 bits, of which Weights.Dots has a faster product, and if w has no Tiles.
func Product(w *packed.Weights, vector, n int, bias bool) (run.Runner, int) {
	if n == 1 && w.Bits == 4 || !w.Tiled() || w.Cols > longest {
		return nil, 0
	}
	w.Remember()
	return &product{w, vector, n, bias}, w.Cols + packed.TileVectors*packed.TileStride + packed.TileStride +
		w.TileRoom(min(n, packed.TileVectors))
}

// longest bounds the workspace.
const longest = 1 << 15

type product struct {
	w         *packed.Weights
	vector, n int
	bias      bool
}

// pieces is in how many pieces the rows of the weights are.
func (r *product) pieces() int { return (r.w.Rows + packed.TileStride - 1) / packed.TileStride }

// Run implements run.Runner.
func (r *product) Run(c *run.Call) {
	some := (r.n + packed.TileVectors - 1) / packed.TileVectors
	c.Deal(some*r.pieces(), packed.TileStride*r.w.Cols*min(r.n, packed.TileVectors))
}

// Span computes the pieces that it takes.
func (r *product) Span(c *run.Call, _, _, worker int) {
	work := c.Work[worker]
	x, work := work[:r.w.Cols], work[r.w.Cols:]
	sums, work := work[:packed.TileVectors*packed.TileStride], work[packed.TileVectors*packed.TileStride:]
	bias, tiles := work[:packed.TileStride], r.w.Tiles(work[packed.TileStride:])
	loaded := -1
	for i, ok := c.Take(); ok && !c.Pause(worker); i, ok = c.Take() {
		first := i / r.pieces() * packed.TileVectors
		n := min(packed.TileVectors, r.n-first)
		for v := 0; v < n && loaded != first; v++ {
			if c.Pause(worker) {
				return
			}
			c.In[r.vector].Load(x, (first+v)*r.w.Cols)
			tiles.Set(v, x)
		}
		loaded = first
		from := i % r.pieces() * packed.TileStride
		to := min(from+packed.TileStride, r.w.Rows)
		for row := from; row < to; row += packed.TileRows {
			if c.Pause(worker) {
				return
			}
			r.rows(c, &tiles, x, sums[row-from:], first, n, row, worker)
		}
		if r.bias {
			c.In[2].Load(bias[:to-from], from)
		}
		for v := range n {
			line := sums[v*packed.TileStride:][:to-from]
			if r.bias {
				for j := range line {
					line[j] += bias[j]
				}
			}
			c.Out[0].Store(line, (first+v)*r.w.Rows+from)
		}
	}
}

// rows computes the products with TileRows rows from row on, or with those that there are.
func (r *product) rows(c *run.Call, tiles *packed.Tiles, x, sums []float32, first, n, row, worker int) {
	at := min(row, r.w.Rows-packed.TileRows) // the last ones overlap those before
	integers := tiles.Products(sums, n, at)
	for v := range n {
		some := sums[v*packed.TileStride:][:packed.TileRows]
		if !integers || tiles.Exact(v) {
			if c.Pause(worker) {
				return
			}
			c.In[r.vector].Load(x, (first+v)*r.w.Cols)
			tiles.Product(some, x, n, at)
		}
		copy(some, some[row-at:])
	}
}
