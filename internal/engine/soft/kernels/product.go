package kernels

import (
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft/internal/gemm"
	"github.com/anekit/anekit/internal/engine/soft/matrix"
	"github.com/anekit/anekit/internal/engine/soft/run"
)

// product computes C = A x B for a batch of matrices, tile by tile. Every
// matrix product and every convolution reduces to it. A is m x k, B is k x n,
// all in float32 during the computation. Sums run along k in order, or as the rules of sums say.
type product struct {
	batch, m, k, n int
	rows, cols     int // of a tile of C
	spare          int // float32s of working memory for panels
	panels         panels
	strips         striped // panels, if B is in strips; else nil
	high           int     // rows of B that are in strips together
	sums           sums
	only           int // element to compute, counted from 1; 0 for all
}

// panels loads operands of one kind of product into tiles and stores the results. spare is working memory.
type panels interface {
	// left returns rows m0 to m1 of A, row-major. dst has room for them.
	left(c *run.Call, dst, spare []float32, batch, m0, m1 int) []float32
	// right returns columns n0 to n1 of B likewise.
	right(c *run.Call, dst, spare []float32, batch, n0, n1 int) []float32
	// bias returns what is added to the sums: a number for each of rows m0 to m1, or of columns n0 to n1, which byRow
	// tells; none if there is no bias.
	bias(c *run.Call, dst []float32, batch, m0, m1, n0, n1 int) (b []float32, byRow bool)
	// store writes a tile of C to the result.
	store(c *run.Call, tile, spare []float32, batch, m0, m1, n0, n1, worker int)
}

// striped are panels that may have B in strips.
type striped interface {
	panels
	// unit is how many rows of B strips makes together, or 0 if B is not in strips.
	unit() int
	// part returns elements k0 to k1 of rows m0 to m1 of A, which begin stride elements apart.
	part(c *run.Call, dst, spare []float32, batch, m0, m1, k0, k1 int) (a []float32, stride int)
	// strips returns rows k0 to k1, some units, and columns n0 to n1 of B in strips; n0 begins one.
	strips(c *run.Call, dst, spare []float32, batch, k0, k1, n0, n1 int) (b []float32, pitch int)
}

// inStrips reports whether a product of so many rows is one with strips: only sums in float32 are.
func (s *Step) inStrips(rows int) bool {
	_, integers := s.Attrs.(ByteWindow)
	return gemm.Strips() && rows >= gemm.StripRows && s.Arith.Operand == 0 && s.Arith.Result == 0 && !integers
}

// Sizes of a tile: C and a row of B fit a first-level cache; the panel of B fits 1 MiB unless k alone is larger.
const (
	tileRows = 32
	tileCols = 256
	panelB   = 1 << 18
	panelA   = 1 << 20 // so that one tile takes at most about 100 ms

	// Where k is longer and there are as many tiles along the rows, tiles and panels are twice as large: A is decoded
	// less often and rows of C are longer.
	longK, manyTiles = 1024, 8

	stripRows, stripsB = 48, 1 << 16 // of attention: of a tile, and floats that stay in a second-level cache
)

// newProduct plans the tiles. spare is the working memory that panels need in addition to k.
func newProduct(batch, m, k, n, spare int, p panels) (run.Runner, int) {
	r := &product{batch: batch, m: m, k: k, n: n, panels: p}
	larger := 1
	if k > longK && m >= manyTiles*2*tileRows {
		larger = 2
	}
	r.rows = min(m, larger*tileRows, max(panelA/k, 1))
	r.high, r.cols = k, min(n, tileCols, max(larger*panelB/k/8*8, 16))
	if p, ok := p.(striped); ok && p.unit() > 0 {
		t := matrix.NewTiles(batch, m, k, n, p.unit())
		r.strips, r.rows, r.cols, r.high = p, t.Rows, t.Cols, t.High
	}
	r.spare = max(k, r.rows, r.cols) + spare
	return r, r.room()
}

// operands is the float32s of a panel of A and of one of B.
func (r *product) operands() (a, b int) {
	if r.strips != nil {
		return matrix.PartRoom(r.rows, min(r.k, matrix.Depth)), gemm.InStrips(r.high, r.cols)
	}
	return r.rows * r.k, r.k * r.cols
}

// room is the float32s of workspace of a worker.
func (r *product) room() int {
	a, b := r.operands()
	return r.rows*r.cols + r.spare + a + b + r.sums.room(r.rows, r.k, r.cols)
}

// tiles returns the number of tiles of C along its rows and columns.
func (r *product) tiles() (down, across int) {
	return (r.m + r.rows - 1) / r.rows, (r.n + r.cols - 1) / r.cols
}

func (r *product) Run(c *run.Call) {
	down, across := r.tiles()
	if tile, _, ok := r.single(); ok {
		c.Run.Span(c, tile, tile+1, 0)
		return
	}
	c.Spread(r.batch*down*across, r.rows*r.cols*r.k)
}

// single returns the tile of the element that only names, and the element's place in it. ok is false if the result is
// not the matrices one after another, in rows.
func (r *product) single() (tile, place int, ok bool) {
	if r.only == 0 || !r.rowMajor() {
		return 0, 0, false
	}
	down, across := r.tiles()
	i := r.only - 1
	batch, m, n := i/r.n/r.m, i/r.n%r.m, i%r.n
	width := min(r.cols, r.n-n/r.cols*r.cols)
	return (batch*across+n/r.cols)*down + m/r.rows, m%r.rows*width + n%r.cols, true
}

// Span computes tiles lo to hi. Tiles of one batch and one range of columns are
// consecutive, so they share one fill of the panel of B.
func (r *product) Span(c *run.Call, lo, hi, worker int) {
	down, across := r.tiles()
	work := roomOf(c, worker)
	inA, inB := r.operands()
	tile, spare, a, right := work.take(r.rows*r.cols), work.take(r.spare), work.take(inA), work.take(inB)
	_, place, single := r.single()
	var b []float32
	var pitch int
	filled, far := -1, distance{}
	for i := lo; i < hi && !c.Pause(worker); i++ {
		m0 := i % down * r.rows
		m1 := min(m0+r.rows, r.m)
		batch, n0 := i/down/across, i/down%across*r.cols
		n1 := min(n0+r.cols, r.n)
		fresh := filled != i/down
		filled = i / down
		out := tile[:(m1-m0)*(n1-n0)]
		if r.strips != nil {
			for k0 := 0; k0 < r.k; k0 += r.high {
				k1 := min(k0+r.high, r.k)
				if fresh {
					b, pitch = r.strips.strips(c, right, spare, batch, k0, k1, n0, n1)
				}
				if first := (batch*r.m+m0)*r.n + n0; k1 == r.k && r.rowMajor() && c.Out[0].Half != nil {
					gemm.Fetch(c.Out[0].Half[first:], gemm.Rows[fp16.Bits]{Count: m1 - m0, N: n1 - n0, Stride: r.n})
				}
				for at := k0; at < k1; at += matrix.Depth {
					if at > 0 && c.Pause(worker) {
						return
					}
					depth := min(matrix.Depth, k1-at)
					left, stride := r.strips.part(c, a, spare, batch, m0, m1, at, at+depth)
					gemm.MulStrips(out, left, stride, b[(at-k0)*gemm.Strip:], pitch, m1-m0, n1-n0, depth, at > 0)
				}
			}
			bias, byRow := r.panels.bias(c, spare, batch, m0, m1, n0, n1)
			gemm.AddBias(out, bias, byRow)
			r.panels.store(c, out, spare, batch, m0, m1, n0, n1, worker)
			c.Complete((batch*r.m+m0)*r.n, (batch*r.m+m1)*r.n, worker)
			continue
		}
		if fresh {
			b = r.panels.right(c, right[:r.k*(n1-n0)], spare, batch, n0, n1)
			far.looked = false
		}
		left := r.panels.left(c, a[:(m1-m0)*r.k], spare, batch, m0, m1)
		bias, byRow := r.panels.bias(c, spare, batch, m0, m1, n0, n1)
		if r.sums.rules == 0 {
			gemm.Mul(out, left, b, m1-m0, r.k, n1-n0)
			gemm.AddBias(out, bias, byRow)
		} else {
			e := r.sums.elements(work, left, b, r.k, n1-n0)
			e.bias, e.byRow = bias, byRow
			switch {
			case r.sums.integers != nil:
				e.computeIntegers(c, out, batch, m0)
			case e.apart() && single:
				out[place] = e.value(place)
			default:
				e.compute(out, &far)
			}
		}
		r.panels.store(c, out, spare, batch, m0, m1, n0, n1, worker)
		c.Complete((batch*r.m+m0)*r.n, (batch*r.m+m1)*r.n, worker)
	}
}

// Completes implements completer: the result is the matrices one after another, in rows, and a tile is whole rows. On
// parts of rows, elementwise operators take longer than on the whole result.
func (r *product) Completes() bool { return r.rowMajor() && r.cols == r.n }

// Stores tells that rows are written by Finish.
func (r *product) Stores() bool {
	_, ok := r.panels.(*windows)
	return ok && r.strips != nil
}

// rowMajor reports whether the result is the matrices one after another, in rows.
func (r *product) rowMajor() bool {
	switch p := r.panels.(type) {
	case *matrices:
		return p.rowMajor
	case *windows:
		return true
	}
	return false
}

// exchangedPanels are the panels of a product with the operands exchanged: (A x B) transposed is B transposed times
// A transposed. gemm sums several columns at once, and so a product of few columns becomes one of few rows.
type exchangedPanels struct {
	panels
	k, room int // room is the floats of inner's spare
}

// fewColumns bounds those of exchanged.
const fewColumns = 4

// exchanged returns p with its operands exchanged, or p if that has no use.
func exchanged(p *product) *product {
	if p.n > fewColumns || p.m < matrix.Many || isElementwise(p.panels) {
		return p
	}
	t := &exchangedPanels{panels: p.panels, k: p.k, room: p.spare}
	r, _ := newProduct(p.batch, p.n, p.k, p.m, p.spare+max(matrix.Many*p.k, fewColumns*tileCols), t)
	return r.(*product)
}

// left returns columns m0 to m1 of inner's B as rows.
func (p *exchangedPanels) left(c *run.Call, dst, spare []float32, batch, m0, m1 int) []float32 {
	n := m1 - m0
	matrix.IntoColumns(dst, p.k, p.panels.right(c, spare[p.room:][:n*p.k], spare[:p.room], batch, m0, m1), n)
	return dst
}

// right returns rows n0 to n1 of inner's A as columns.
func (p *exchangedPanels) right(c *run.Call, dst, spare []float32, batch, n0, n1 int) []float32 {
	for at := n0; at < n1; at += matrix.Many {
		rows := min(matrix.Many, n1-at)
		from := p.panels.left(c, spare[p.room:][:rows*p.k], spare[:p.room], batch, at, at+rows)
		matrix.IntoColumns(dst[at-n0:], n1-n0, from, p.k)
	}
	return dst
}

func (p *exchangedPanels) bias(c *run.Call, dst []float32, batch, m0, m1, n0, n1 int) (b []float32, byRow bool) {
	b, byRow = p.panels.bias(c, dst, batch, n0, n1, m0, m1)
	return b, !byRow
}

func (p *exchangedPanels) store(c *run.Call, tile, spare []float32, batch, m0, m1, n0, n1, worker int) {
	back := spare[p.room:][:len(tile)]
	matrix.IntoColumns(back, m1-m0, tile, n1-n0)
	p.panels.store(c, back, spare[:p.room], batch, n0, n1, m0, m1, worker)
}

// newOperand describes input index of a step. With ahead it decodes a constant before
// the runs, within the budget of the program, unless an instance shares the one of its base.
func newOperand(s *Step, index, rows, cols int, flip, ahead bool) matrix.Operand {
	o := matrix.Operand{Index: index, Rows: rows, Cols: cols, Flip: flip, Weights: s.weights(index)}
	if ahead {
		s.decode(&o)
	}
	return o
}

// decode decodes an operand that is a constant, if it may be decoded ahead.
func (s *Step) decode(o *matrix.Operand) {
	p := s.In[o.Index]
	if o.Weights != nil || !p.Constant {
		return
	}
	one := o.Rows * o.Cols // of the matrices in memory
	size := one
	if o.InStrips {
		size = gemm.InStrips(o.Rows, o.Cols)
	}
	if n := p.len() / one; p.Ahead == nil {
		if s.Decode == nil || n*size > *s.Decode {
			return
		}
		*s.Decode -= n * size
		p.Data.Rules = s.Arith.Operand
		p.Ahead = make([]float32, n*size)
		spare := make([]float32, max(o.Rows, o.Cols, o.Room(o.Rows)))
		for m := range n {
			if to := p.Ahead[m*size:][:size]; o.InStrips {
				o.Strips(&p.Data, to, spare, m, 0, o.Rows, 0, o.Cols)
			} else {
				o.Copy(&p.Data, to, spare, m, 0, o.Rows, 0, o.Cols)
			}
		}
	}
	o.Decoded, o.Flip = p.Ahead, false
}

// largeWeight is the least elements of a weight that is not decoded ahead where a run reads each element about once.
// Decoded, it takes twice its bytes more in each program that has it, and is hardly quicker to read.
const largeWeight = 1 << 18
