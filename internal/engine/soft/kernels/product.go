package kernels

import (
	"github.com/anekit/anekit/internal/engine/soft/internal/gemm"
	"github.com/anekit/anekit/internal/engine/soft/internal/packed"
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
	store(c *run.Call, tile, spare []float32, batch, m0, m1, n0, n1 int)
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
)

// newProduct plans the tiles. spare is the working memory that panels need in addition to k.
func newProduct(batch, m, k, n, spare int, p panels) (run.Runner, int) {
	r := &product{batch: batch, m: m, k: k, n: n, panels: p}
	larger := 1
	if k > longK && m >= manyTiles*2*tileRows {
		larger = 2
	}
	r.rows = min(m, larger*tileRows, max(panelA/k, 1))
	r.cols = min(n, tileCols, max(larger*panelB/k/8*8, 16))
	r.spare = max(k, r.rows, r.cols) + spare
	return r, r.room()
}

// room is the float32s of workspace of a worker.
func (r *product) room() int {
	return r.rows*r.cols + r.rows*r.k + r.spare + r.k*r.cols + r.sums.room(r.rows, r.k, r.cols)
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
	tile, a, spare, right := work.take(r.rows*r.cols), work.take(r.rows*r.k), work.take(r.spare), work.take(r.k*r.cols)
	_, place, single := r.single()
	var b []float32
	filled, far := -1, distance{}
	for i := lo; i < hi && !c.Pause(worker); i++ {
		m0 := i % down * r.rows
		m1 := min(m0+r.rows, r.m)
		batch, n0 := i/down/across, i/down%across*r.cols
		n1 := min(n0+r.cols, r.n)
		if filled != i/down {
			b = r.panels.right(c, right[:r.k*(n1-n0)], spare, batch, n0, n1)
			filled = i / down
			far.looked = false
		}
		left := r.panels.left(c, a[:(m1-m0)*r.k], spare, batch, m0, m1)
		bias, byRow := r.panels.bias(c, spare, batch, m0, m1, n0, n1)
		out := tile[:(m1-m0)*(n1-n0)]
		if r.sums.rules == 0 {
			gemm.Mul(out, left, b, m1-m0, r.k, n1-n0)
			addBias(out, bias, byRow)
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
		r.panels.store(c, out, spare, batch, m0, m1, n0, n1)
		c.Complete((batch*r.m+m0)*r.n, (batch*r.m+m1)*r.n, worker)
	}
}

// addBias adds a bias, which may be empty, to the rows of a tile: an element to each row, or one to each column.
func addBias(tile, bias []float32, byRow bool) {
	if len(bias) == 0 {
		return
	}
	width := len(bias)
	if byRow {
		width = len(tile) / len(bias)
	}
	for i := 0; len(tile) > 0; i, tile = i+1, tile[width:] {
		row := tile[:width]
		if byRow {
			for j := range row {
				row[j] += bias[i]
			}
			continue
		}
		for j, f := range bias {
			row[j] += f
		}
	}
}

// Completes implements completer: the result is the matrices one after another, in rows, and a tile is whole rows. On
// parts of rows, elementwise operators take longer than on the whole result.
func (r *product) Completes() bool { return r.rowMajor() && r.cols == r.n }

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

// Bounds of exchanged: at most fewColumns, and rows that fill a register.
const (
	fewColumns = 4
	manyRows   = gemm.Interleaved
)

// exchanged returns p with its operands exchanged, or p if that has no use.
func exchanged(p *product) *product {
	if p.n > fewColumns || p.m < manyRows || isElementwise(p.panels) {
		return p
	}
	t := &exchangedPanels{panels: p.panels, k: p.k, room: p.spare}
	r, _ := newProduct(p.batch, p.n, p.k, p.m, p.spare+max(manyRows*p.k, fewColumns*tileCols), t)
	return r.(*product)
}

// left returns columns m0 to m1 of inner's B as rows.
func (p *exchangedPanels) left(c *run.Call, dst, spare []float32, batch, m0, m1 int) []float32 {
	n := m1 - m0
	intoColumns(dst, p.k, p.panels.right(c, spare[p.room:][:n*p.k], spare[:p.room], batch, m0, m1), n)
	return dst
}

// right returns rows n0 to n1 of inner's A as columns.
func (p *exchangedPanels) right(c *run.Call, dst, spare []float32, batch, n0, n1 int) []float32 {
	for at := n0; at < n1; at += manyRows {
		rows := min(manyRows, n1-at)
		from := p.panels.left(c, spare[p.room:][:rows*p.k], spare[:p.room], batch, at, at+rows)
		intoColumns(dst[at-n0:], n1-n0, from, p.k)
	}
	return dst
}

// intoColumns writes the rows of a matrix, high elements each, as columns beside each other of a matrix whose rows
// begin width elements apart.
func intoColumns(dst []float32, width int, from []float32, high int) {
	if len(from) == manyRows*high {
		var rows [manyRows][]float32
		for i := range rows {
			rows[i] = from[i*high:][:high]
		}
		gemm.Interleave(dst, width, &rows)
		return
	}
	for i := range len(from) / high {
		for d, f := range from[i*high:][:high] {
			dst[d*width+i] = f
		}
	}
}

func (p *exchangedPanels) bias(c *run.Call, dst []float32, batch, m0, m1, n0, n1 int) (b []float32, byRow bool) {
	b, byRow = p.panels.bias(c, dst, batch, n0, n1, m0, m1)
	return b, !byRow
}

func (p *exchangedPanels) store(c *run.Call, tile, spare []float32, batch, m0, m1, n0, n1 int) {
	back := spare[p.room:][:len(tile)]
	intoColumns(back, m1-m0, tile, n1-n0)
	p.panels.store(c, back, spare[:p.room], batch, n0, n1, m0, m1)
}

// operand is a batch of matrices of rows x cols. Each is dense in memory; with
// flip its rows and columns are exchanged there.
type operand struct {
	index      int // index of the call's input
	rows, cols int
	flip       bool
	packed     []float32       // a constant's matrices, decoded once and not flipped
	weights    *packed.Weights // a matrix that stays packed, or nil
	paths      *[3]path        // of matrices, rows and columns in memory unless they are dense
}

// scattered describes input index with matrices, rows and columns anywhere.
func scattered(index int, at [3]path) operand {
	o := operand{index: index, rows: at[1].len(), cols: at[2].len(), paths: &at}
	if o.flip = at[1].dense() && !at[2].dense(); o.flip {
		at[1], at[2] = at[2], at[1]
	}
	return o
}

// newOperand describes input index of a step. With ahead it decodes a constant before
// the runs, within the budget of the program, unless an instance shares the one of its base.
func newOperand(s *Step, index, rows, cols int, flip, ahead bool) operand {
	p := s.In[index]
	o := operand{index: index, rows: rows, cols: cols, flip: flip, weights: s.weights(index)}
	if o.weights != nil || !p.Constant || !ahead {
		return o
	}
	if n := p.len(); p.Ahead == nil {
		if s.Decode == nil || n > *s.Decode {
			return o
		}
		*s.Decode -= n
		p.Data.Rules = s.Arith.Operand
		p.Ahead = make([]float32, n)
		spare := make([]float32, max(rows, o.room(rows)))
		for m := range n / (rows * cols) {
			o.copy(&p.Data, p.Ahead[m*rows*cols:][:rows*cols], spare, m, 0, rows, 0, cols)
		}
	}
	o.packed, o.flip = p.Ahead, false
	return o
}

// largeWeight is the least elements of a weight that is not decoded ahead where a run reads each element about once.
// Decoded, it takes twice its bytes more in each program that has it, and is hardly quicker to read.
const largeWeight = 1 << 18

// block returns rows r0 to r1 and columns c0 to c1 of a matrix, row-major: in
// dst, or in place where they are stored so. spare holds at least r1-r0.
func (o *operand) block(c *run.Call, dst, spare []float32, matrix, r0, r1, c0, c1 int) []float32 {
	if o.packed == nil {
		o.copy(&c.In[o.index], dst, spare, matrix, r0, r1, c0, c1)
		return dst
	}
	from := o.packed[matrix*o.rows*o.cols:][:o.rows*o.cols]
	if c1-c0 == o.cols {
		return from[r0*o.cols : r1*o.cols]
	}
	for r := r0; r < r1; r++ {
		copy(dst[(r-r0)*(c1-c0):][:c1-c0], from[r*o.cols+c0:])
	}
	return dst
}

// row decodes a part of a row of a matrix in memory.
func (o *operand) row(v *run.Vec, dst []float32, matrix, row, col int) {
	if o.weights != nil {
		o.weights.Floats(dst, row, col)
		return
	}
	if o.paths != nil {
		o.paths[2].each(dst, o.paths[0].at(matrix)+o.paths[1].at(row), col, v.Load)
		return
	}
	across := o.cols
	if o.flip {
		across = o.rows
	}
	v.Load(dst, matrix*o.rows*o.cols+row*across+col)
}

// flipped is copy for a matrix whose rows in memory are columns. Several become columns at a time where spare has room
// for them.
func (o *operand) flipped(v *run.Vec, dst, spare []float32, matrix, r0, r1, c0, c1 int) {
	high := r1 - r0
	for at, n := c0, 0; at < c1; at += n {
		n = 1
		if at+manyRows <= c1 && len(spare) >= manyRows*high {
			n = manyRows
		}
		for i := range n {
			o.row(v, spare[i*high:][:high], matrix, at+i, r0)
		}
		intoColumns(dst[at-c0:], c1-c0, spare[:n*high], high)
	}
}

// room is the float32s of spare that block needs besides those for a row and a column, for at most some rows.
func (o *operand) room(rows int) int {
	if o.packed == nil && o.flip {
		return manyRows * min(rows, o.rows)
	}
	return 0
}

// copy is block for elements in memory; it always fills dst.
func (o *operand) copy(v *run.Vec, dst, spare []float32, matrix, r0, r1, c0, c1 int) {
	w := c1 - c0
	switch {
	case o.flip:
		o.flipped(v, dst, spare, matrix, r0, r1, c0, c1)
	case w == o.cols && o.weights == nil && o.paths == nil:
		v.Load(dst, matrix*o.rows*o.cols+r0*o.cols)
	default:
		for r := r0; r < r1; r++ {
			o.row(v, dst[(r-r0)*w:][:w], matrix, r, c0)
		}
	}
}
