package matrix

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTiles: tiles are as high as their caches take, and lower where processors would have none.
func TestTiles(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, c := range []struct {
		workers, batch, m, k, n, unit int
		want                          Tiles
	}{
		{1, 1, 16, 2048, 2048, 1, Tiles{16, 256, 256}}, // one row of tiles: few rows of B at a time
		{1, 1, 192, 2048, 100, 1, Tiles{192, 100, 655}},
		{1, 1, 64, 900, 3136, 9, Tiles{64, 256, 252}},
		{1, 1, 256, 1024, 2816, 1, Tiles{86, 256, 1024}}, // several: all rows of B, and equal tiles
		{1, 1, 512, 8192, 512, 1, Tiles{86, 128, 8192}},
		{1, 1, 300, 1 << 20, 64, 1, Tiles{75, 16, 1 << 20}},
		{2, 1, 192, 512, 256, 1, Tiles{96, 256, 512}},
		{4, 1, 192, 512, 256, 1, Tiles{48, 256, 512}},
		{16, 1, 192, 512, 256, 1, Tiles{48, 256, 512}},
		{4, 4, 192, 512, 256, 1, Tiles{192, 256, 256}},
		{4, 17, 192, 512, 256, 1, Tiles{192, 256, 256}},
	} {
		runtime.GOMAXPROCS(c.workers)
		require.Equal(t, c.want, NewTiles(c.batch, c.m, c.k, c.n, c.unit), "%+v", c)
	}
}
