// Package weighted multiplies vectors by the rows of a weight in programs that ask for products of words: package
// buildinfo says what these may do. Package kernels has it in its table.
package weighted

import (
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft/internal/packed"
	"github.com/anekit/anekit/internal/engine/soft/run"
)

// longest bounds the workspace.
const longest = 1 << 15

// piece is the rows of a piece of work.
const piece = packed.TileStride

// product is the runner of the products of n vectors of cols elements, the rows of an operand, with each row of another.
// Its items are pieces of the rows, for each most of the vectors. A vector of zeros is not multiplied, unless it is the
// first one, which shows elements of the matrix that are not finite.
type product struct {
	vector     int // the operand that has the vectors
	rows, cols int // of the matrix
	n, most    int
	bias       bool            // input 2 is added to each result
	w          *packed.Weights // of a matrix that stays packed, else nil
}

// Packed returns the runner of products with w, and the float32s of workspace that each worker needs. It returns nil for
// one vector and integers of 4 bits, of which Weights.Dots has a faster product, and if w has no Tiles.
func Packed(w *packed.Weights, vector, n int, bias bool) (run.Runner, int) {
	if n == 1 && w.Bits == 4 || !w.Tiled() || w.Cols > longest {
		return nil, 0
	}
	w.Remember()
	r := &product{vector: vector, rows: w.Rows, cols: w.Cols, n: n, most: packed.TileVectors, bias: bias, w: w}
	return r, r.sums() + w.Cols + w.TileRoom(min(n, r.most))
}

// sums is the float32s of a worker's sums and of the bias.
func (r *product) sums() int { return (min(r.n, r.most) + 1) * piece }

func (r *product) pieces() int { return (r.rows + piece - 1) / piece }

// Run implements run.Runner.
func (r *product) Run(c *run.Call) {
	c.Deal((r.n+r.most-1)/r.most*r.pieces(), piece*r.cols*min(r.n, r.most))
}

// Span computes the pieces that it takes.
func (r *product) Span(c *run.Call, _, _, worker int) {
	work := c.Work[worker]
	sums, bias, room := work[:r.sums()-piece], work[r.sums()-piece:r.sums()], work[r.sums():]
	f := factor{product: r, x: room}
	if r.w != nil {
		f.x, f.tiles = room[:r.cols], r.w.Tiles(room[r.cols:], min(r.n, r.most))
	}
	loaded := -1
	for i, ok := c.Take(); ok && !c.Pause(worker); i, ok = c.Take() {
		first := i / r.pieces() * r.most
		if loaded != first && !f.load(c, first, worker) {
			return
		}
		loaded = first
		from := i % r.pieces() * piece
		to := min(from+piece, r.rows)
		f.multiply(c, sums, from, to, worker)
		clear(bias)
		if r.bias {
			c.In[2].Load(bias[:to-from], from)
		}
		line := sums
		for v, live := range f.live[:min(r.most, r.n-first)] {
			some := bias[:to-from]
			if live {
				some = line[:to-from]
				for j := 0; j < len(some) && r.bias; j++ {
					some[j] += bias[j]
				}
				line = line[piece:]
			}
			c.Out[0].Store(some, (first+v)*r.rows+from)
		}
	}
}

// factor is the vectors that are multiplied together.
type factor struct {
	*product
	live  [packed.TileVectors]bool // of the vectors, those that are not zero
	at    [packed.TileVectors]int  // where these are in the operand
	n     int                      // how many these are
	x     []float32                // their elements, or with packed weights those of one
	tiles packed.Tiles
}

// load loads the vectors from the first one on. It returns false if c pauses.
func (f *factor) load(c *run.Call, first, worker int) bool {
	from := &c.In[f.vector]
	f.n = 0
	for v := range min(f.most, f.product.n-first) {
		if c.Pause(worker) {
			return false
		}
		at := (first + v) * f.cols
		if f.live[v] = at == 0 || !zero(from.Half[at:][:f.cols]); !f.live[v] {
			continue
		}
		f.at[f.n] = at
		if f.w == nil {
			from.Load(f.x[f.n*f.cols:][:f.cols], at)
		} else {
			from.Load(f.x, at)
			f.tiles.Set(f.n, f.x)
		}
		f.n++
	}
	return true
}

// zero reports whether all elements are 0.
func zero(x []fp16.Bits) bool {
	for len(x) > 0 {
		some, bits := x[:min(len(x), 64)], fp16.Bits(0)
		for _, h := range some {
			bits |= h
		}
		if bits&^(1<<15) != 0 {
			return false
		}
		x = x[len(some):]
	}
	return true
}

// multiply sets sums, a piece for each vector that is live, to their products with rows from to to.
func (f *factor) multiply(c *run.Call, sums []float32, from, to, worker int) {
	if f.w == nil && f.n > 0 {
		f.dense(c, sums, from)
		return
	}
	for row := from; row < to && f.n > 0; row += packed.TileRows {
		if c.Pause(worker) {
			return
		}
		f.tile(c, sums[row-from:], row, worker)
	}
}

// tile computes the products with TileRows rows of packed weights from row on, or with those that there are.
func (f *factor) tile(c *run.Call, sums []float32, row, worker int) {
	at := min(row, f.rows-packed.TileRows) // the last ones overlap those before
	integers := f.tiles.Products(sums, f.n, at)
	for v := range f.n {
		some := sums[v*piece:][:packed.TileRows]
		if !integers || f.tiles.Exact(v) {
			if c.Pause(worker) {
				return
			}
			c.In[f.vector].Load(f.x, f.at[v])
			f.tiles.Product(some, f.x, f.n, at)
		}
		copy(some, some[row-at:])
	}
}
