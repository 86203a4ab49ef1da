package kernels

import (
	"github.com/anekit/anekit/internal/engine/soft/internal/gemm"
	"github.com/anekit/anekit/internal/numerics"
)

// distance tells how near to the range the tiles of a product are. Sums in any order are pointless where most
// elements are walked all the same.
type distance struct {
	near   bool    // most pieces of the last tile that was summed were walked
	before int     // tiles since then
	most   float32 // the largest magnitude of the panel on the right, once it is looked for
	looked bool
}

// fresh says that the panel on the right is another one.
func (d *distance) fresh() { d.looked = false }

// again is after how many tiles that were only walked one is summed, to see whether it is near too.
const again = 16

// tile sums the elements of a tile of m rows: in any order, and those that may reach the range once more in the order
// of the hardware, with their neighbors.
func (d *distance) tile(e *elements, out []float32, m int) {
	inOrder := e.rules.Has(numerics.Range)
	walkAll := inOrder && d.near && d.before < again
	d.before++
	e.sum(e.t, e.a, e.b, m, e.n, !walkAll)
	pieces, walked := 0, 0
	inside, looked := false, e.how != gemm.Fours
	for i := 0; i < m; i += gemm.WalkRows {
		var columns int
		for j := 0; j < e.n; j += columns {
			rows := min(gemm.WalkRows, m-i)
			columns = min(gemm.WalkColumns, e.n-j)
			pieces++
			if inOrder && (walkAll || e.anyNear(i, j, rows, columns)) {
				if !looked {
					inside, looked = gemm.InsideGroup(gemm.Most(e.t.scaled[:len(e.a)]), d.right(e.b)), true
				}
				columns = e.walkPiece(out, i, j, rows, columns, inside)
				walked++
				continue
			}
			for r := range rows {
				for at := (i+r)*e.n + j; at < (i+r)*e.n+j+columns; at++ {
					units := e.units(at)
					total := (units + float64(e.t.sums[at])) * numerics.Unit
					if !inOrder && e.near(at, units) {
						total = e.walk(int64(units), at)
					}
					out[at] = e.finish(at, total)
				}
			}
		}
	}
	if !walkAll {
		d.near, d.before = 2*walked > pieces, 0
	}
}

func (e *elements) anyNear(i, j, rows, columns int) bool {
	for r := range rows {
		for at := (i+r)*e.n + j; at < (i+r)*e.n+j+columns; at++ {
			if e.near(at, e.units(at)) {
				return true
			}
		}
	}
	return false
}

// walkPiece sums a piece of at most columns in order, and returns how many it had. inside is that of gemm.Walk.
func (e *elements) walkPiece(out []float32, i, j, rows, columns int, inside bool) int {
	var sums [gemm.WalkRows * gemm.WalkColumns]float64
	for r := range rows {
		for c := range columns {
			sums[r*gemm.WalkColumns+c] = e.units((i+r)*e.n + j + c)
		}
	}
	columns = gemm.Walk(&sums, e.t.scaled, e.t.least, e.b, i, j, e.k, e.n, e.how, inside)
	for r := range rows {
		for c := range columns {
			at := (i+r)*e.n + j + c
			out[at] = e.finish(at, sums[r*gemm.WalkColumns+c]*numerics.Unit)
		}
	}
	return columns
}

// right returns the largest magnitude of the panel on the right.
func (d *distance) right(b []float32) float32 {
	if !d.looked {
		d.most, d.looked = gemm.Most(b), true
	}
	return d.most
}
