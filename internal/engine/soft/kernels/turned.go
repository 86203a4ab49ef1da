package kernels

import (
	"github.com/anekit/anekit/internal/engine/soft/internal/gemm"
	"github.com/anekit/anekit/internal/engine/soft/run"
)

// turnedPanels are the panels of a product with the operands exchanged: (A x B) transposed is B transposed times
// A transposed. gemm sums several columns at once, and so a product of few columns becomes one of few rows.
type turnedPanels struct {
	panels
	k, room int // room is the floats of inner's spare
}

// Bounds of what is turned: at most fewColumns, and rows that fill a register.
const (
	fewColumns = 4
	manyRows   = gemm.Interleaved
)

// turn returns p with its operands exchanged, or p if that has no use.
func turn(p *product) *product {
	if m, ok := p.panels.(multiplier); p.n > fewColumns || p.m < manyRows || ok && m.elementwise() {
		return p
	}
	t := &turnedPanels{panels: p.panels, k: p.k, room: p.spare}
	r, _ := newProduct(p.batch, p.n, p.k, p.m, p.spare+max(manyRows*p.k, fewColumns*tileCols), t)
	return r.(*product)
}

// left returns columns m0 to m1 of inner's B as rows.
func (p *turnedPanels) left(c *run.Call, dst, spare []float32, batch, m0, m1 int) []float32 {
	n := m1 - m0
	from := p.panels.right(c, spare[p.room:][:n*p.k], spare[:p.room], batch, m0, m1)
	for d := range p.k {
		for i, f := range from[d*n:][:n] {
			dst[i*p.k+d] = f
		}
	}
	return dst
}

// right returns rows n0 to n1 of inner's A as columns.
func (p *turnedPanels) right(c *run.Call, dst, spare []float32, batch, n0, n1 int) []float32 {
	width := n1 - n0
	for at := n0; at < n1; at += manyRows {
		rows := min(manyRows, n1-at)
		from := p.panels.left(c, spare[p.room:][:rows*p.k], spare[:p.room], batch, at, at+rows)
		if rows < manyRows {
			for i := range rows {
				for d, f := range from[i*p.k:][:p.k] {
					dst[d*width+at-n0+i] = f
				}
			}
			continue
		}
		var a [manyRows][]float32
		for i := range a {
			a[i] = from[i*p.k:][:p.k]
		}
		gemm.Interleave(dst[at-n0:], width, &a)
	}
	return dst
}

func (p *turnedPanels) store(c *run.Call, tile, spare []float32, batch, m0, m1, n0, n1 int) {
	m, n := m1-m0, n1-n0
	back := spare[p.room:][:m*n]
	for i := range m {
		for j, f := range tile[i*n:][:n] {
			back[j*m+i] = f
		}
	}
	p.panels.store(c, back, spare[:p.room], batch, n0, n1, m0, m1)
}

// start implements starter.
func (p *turnedPanels) start(c *run.Call, dst []float32, batch, m0, m1, n0, n1 int) (n int, rows bool) {
	s, ok := p.panels.(starter)
	if !ok {
		return 0, false
	}
	n, rows = s.start(c, dst, batch, n0, n1, m0, m1)
	return n, !rows
}
