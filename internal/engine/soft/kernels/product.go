package kernels

import (
	"github.com/anekit/anekit/internal/engine/soft/internal/gemm"
	"github.com/anekit/anekit/internal/engine/soft/run"
)

// product computes C = A x B for a batch of matrices, tile by tile. Every
// matrix product and every convolution reduces to it. A is m x k, B is k x n,
// all in float32 during the computation. Sums run along k in order.
type product struct {
	batch, m, k, n int
	rows, cols     int // of a tile of C
	spare          int // float32s of working memory for panels
	panels         panels
}

// panels loads operands of one kind of product into tiles and stores the
// results. spare is working memory.
type panels interface {
	// left returns rows m0 to m1 of A, row-major. dst has room for them.
	left(c *run.Call, dst, spare []float32, batch, m0, m1 int) []float32
	// right returns columns n0 to n1 of B likewise.
	right(c *run.Call, dst, spare []float32, batch, n0, n1 int) []float32
	// store writes a tile of C to the result.
	store(c *run.Call, tile, spare []float32, batch, m0, m1, n0, n1 int)
}

// Sizes of a tile: C and a row of B fit a first-level cache; the panel of B
// fits 1 MiB unless k alone is larger.
const (
	tileRows = 32
	tileCols = 256
	panelB   = 1 << 18
	panelA   = 1 << 20 // so that one tile takes at most about 100 ms

	// Where k is longer and there are as many tiles along the rows, tiles and panels are twice as large: A is decoded
	// less often and rows of C are longer.
	longK, manyTiles = 1024, 8
)

// newProduct plans the tiles. spare is the working memory that panels need in
// addition to k.
func newProduct(batch, m, k, n, spare int, p panels) (run.Runner, int) {
	r := &product{batch: batch, m: m, k: k, n: n, panels: p}
	larger := 1
	if k > longK && m >= manyTiles*2*tileRows {
		larger = 2
	}
	r.rows = min(m, larger*tileRows, max(panelA/k, 1))
	r.cols = min(n, tileCols, max(larger*panelB/k/8*8, 16))
	r.spare = max(k, r.rows, r.cols) + spare
	return r, r.rows*r.cols + r.rows*k + r.spare + k*r.cols
}

// tiles returns the number of tiles of C along its rows and columns.
func (r *product) tiles() (down, across int) {
	return (r.m + r.rows - 1) / r.rows, (r.n + r.cols - 1) / r.cols
}

func (r *product) Run(c *run.Call) {
	down, across := r.tiles()
	c.Spread(r.batch*down*across, r.rows*r.cols*r.k)
}

// Span computes tiles lo to hi. Tiles of one batch and one range of columns are
// consecutive, so they share one fill of the panel of B.
func (r *product) Span(c *run.Call, lo, hi, worker int) {
	down, across := r.tiles()
	take := func(rest []float32, n int) ([]float32, []float32) { return rest[:n], rest[n:] }
	tile, rest := take(c.Work[worker], r.rows*r.cols)
	a, rest := take(rest, r.rows*r.k)
	spare, room := take(rest, r.spare)
	var b []float32
	filled := -1
	for i := lo; i < hi && !c.Pause(worker); i++ {
		m0 := i % down * r.rows
		m1 := min(m0+r.rows, r.m)
		batch, n0 := i/down/across, i/down%across*r.cols
		n1 := min(n0+r.cols, r.n)
		if filled != i/down {
			b = r.panels.right(c, room[:r.k*(n1-n0)], spare, batch, n0, n1)
			filled = i / down
		}
		left := r.panels.left(c, a[:(m1-m0)*r.k], spare, batch, m0, m1)
		out := tile[:(m1-m0)*(n1-n0)]
		gemm.Mul(out, left, b, m1-m0, r.k, n1-n0)
		r.panels.store(c, out, spare, batch, m0, m1, n0, n1)
		c.Complete((batch*r.m+m0)*r.n, (batch*r.m+m1)*r.n, worker)
	}
}

// Completes implements completer: the result is the matrices one after another, in rows, and a tile is whole rows. On
// parts of rows, elementwise operators take longer than on the whole result.
func (r *product) Completes() bool { return r.rowMajor() && r.cols == r.n }

// rowMajor reports whether the result is the matrices one after another, in rows.
func (r *product) rowMajor() bool {
	switch r.panels.(type) {
	case *matrices, *windows:
		return true
	}
	return false
}
