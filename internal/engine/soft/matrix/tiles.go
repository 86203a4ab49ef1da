package matrix

import (
	"github.com/anekit/anekit/internal/engine/soft/internal/gemm"
	"github.com/anekit/anekit/internal/engine/soft/run"
)

// Tiles are the sizes of the tiles of a product with strips: their rows and columns, and the rows of B that are in
// strips together.
type Tiles struct{ Rows, Cols, High int }

// Limits of a tile. Its part of A and its sums are in a second-level cache. A higher one reads the strips less often.
const (
	allRows, highRows, lowRows = 192, 96, 48
	tileCols                   = 256
	stripsKept                 = 1 << 20 // float32s in strips for all rows of tiles
	stripsOnce                 = 1 << 16 // for one row of tiles: they stay in a second-level cache
)

// NewTiles returns the sizes for a batch of products. Strips are made for unit rows of B at least. One tile has up to
// allRows if those are all, and tiles are as low as they may be where there are few for the workers.
func NewTiles(batch, m, k, n, unit int) (t Tiles) {
	for _, rows := range []int{allRows, highRows, lowRows} {
		down := (m + rows - 1) / rows
		if rows == allRows && down > 1 {
			continue
		}
		t = Tiles{Rows: (m + down - 1) / down, Cols: min(n, tileCols), High: k}
		if down == 1 { // each row of B is read once: it need not stay
			t.High = min(k, max(stripsOnce/t.Cols/unit, 1)*unit)
		} else {
			t.Cols = min(t.Cols, max(stripsKept/k/gemm.Strip, 1)*gemm.Strip)
		}
		tiles, workers := batch*down*((n+t.Cols-1)/t.Cols), run.Parallel(0)
		if tiles%workers == 0 || tiles >= 4*workers {
			break
		}
	}
	return t
}
