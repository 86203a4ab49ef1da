package kernels

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/engine/soft/run"
)

// TestWalksAreMerged: axes that are contiguous in both operands are merged.
func TestWalksAreMerged(t *testing.T) {
	w := broadcast([]int{2, 3, 4}, []int{2, 3, 4}, []int{2, 3, 4})
	require.Equal(t, []int{24}, w.dims)
	w = broadcast([]int{2, 3, 4}, []int{2, 3, 4}, []int{3, 4})
	require.Equal(t, []int{2, 12}, w.dims)
	for i := range w.total {
		from, n := w.at(i)
		require.Equal(t, i, from.x)
		require.Equal(t, i%12, from.y)
		require.Equal(t, 12-i%12, n, "the elements to the end of the axis")
	}
}

// Lanes merge axes, and a group of them fits the room unless one lane does not.
func TestLanesFitTheirRoom(t *testing.T) {
	l := newLanes([]int{2, 3, 4}, []int{0})
	require.Equal(t, 2, l.length)
	require.Equal(t, 12, l.row, "3 x 4 lanes lie side by side")
	require.Empty(t, l.kept)
	l = newLanes([]int{5, 2, 3, 4}, []int{1, 2, 3})
	require.Equal(t, 24, l.run, "the elements of a lane follow each other")
	require.Equal(t, 5, l.groups())
	for _, length := range []int{1, 100, laneRoom / maxTile, laneRoom/maxTile + 1, laneRoom / 2, laneRoom,
		3 * laneRoom} {
		l := newLanes([]int{length, 200}, []int{0})
		if length > laneRoom {
			require.Equal(t, 1, l.tile)
			continue
		}
		require.LessOrEqual(t, l.tile*length, laneRoom, "%d", length)
		require.Equal(t, min(laneRoom/length, maxTile), l.tile, "%d", length)
	}
}

// Tiles of a product are as large as their bounds let them.
func TestTilesFitTheirPanels(t *testing.T) {
	for _, c := range []struct{ m, k, n, rows, cols int }{
		{3, 5, 7, 3, 7},
		{1000, 1024, 1000, tileRows, tileCols}, // 256 columns of 1024 fill 1 MiB
		{500, 2048, 1000, tileRows, 128},
		{500, 3000, 1000, tileRows, 80}, // whole multiples of 8
		{1000, 2048, 1000, 2 * tileRows, tileCols},
		{1000, 3000, 1000, 2 * tileRows, 168},
		{1000, 1 << 16, 1000, 16, 16}, // k alone is larger than the panel
		{1000, 1 << 20, 1000, 1, 16},
		{1000, 1<<20 + 1, 1000, 1, 16},
	} {
		r, _ := newProduct(1, c.m, c.k, c.n, 0, nil)
		p := r.(*product)
		require.Equal(t, c.rows, p.rows, "%+v", c)
		require.Equal(t, c.cols, p.cols, "%+v", c)
	}
}

// counted are panels of ones that count how often each operand is loaded.
type counted struct{ lefts, rights int }

func ones(dst []float32) []float32 {
	for i := range dst {
		dst[i] = 1
	}
	return dst
}

func (p *counted) left(_ *run.Call, dst, _ []float32, _, _, _ int) []float32 {
	p.lefts++
	return ones(dst)
}

func (p *counted) right(_ *run.Call, dst, _ []float32, _, _, _ int) []float32 {
	p.rights++
	return ones(dst)
}

func (p *counted) bias(*run.Call, []float32, int, int, int, int, int) ([]float32, bool) {
	return nil, false
}

func (p *counted) store(*run.Call, []float32, []float32, int, int, int, int, int, int) {}

// TestTilesSharePanels: the tiles of a range of columns of one matrix share one load of these columns.
func TestTilesSharePanels(t *testing.T) {
	p := &counted{}
	const batch, down, across = 2, 4, 3
	r, work := newProduct(batch, down*tileRows, 8, across*tileCols, 0, p)
	c := &run.Call{Run: r, Ctx: t.Context(), Workers: 1}
	require.NoError(t, c.AddRoom(make([]byte, 4*work)))
	r.Run(c)
	require.Equal(t, batch*across, p.rights)
	require.Equal(t, batch*across*down, p.lefts)
}

// TestLargeTurns: a matrix that is larger than the caches is turned with the next piece fetched ahead.
func TestLargeTurns(t *testing.T) {
	effort.SkipShort(t)
	const rows, cols = 2048 + 7, 4096 + 3
	r, _ := (&Step{In: []*Tensor{{DType: mil.FP16}}}).move(box{dims: []int{cols, rows}, src: []int{1, cols}, dst: []int{rows, 1}})
	require.True(t, r.(*transposer).past)
	from, to := run.Vec{Pairs: make([]uint16, rows*cols)}, run.Vec{Pairs: make([]uint16, rows*cols)}
	for i := range from.Pairs {
		from.Pairs[i] = uint16(i ^ i>>16)
	}
	r.Run(&run.Call{Run: r, Ctx: t.Context(), Workers: 1, In: []run.Vec{from}, Out: []run.Vec{to}})
	for row := range rows {
		for col := range cols {
			if from.Pairs[row*cols+col] != to.Pairs[col*rows+row] {
				t.Fatalf("row %d, column %d", row, col)
			}
		}
	}
}

// TestDenseLanes: all lanes side by side are rows without gaps; a part of them, runs and several folded axes are not.
func TestDenseLanes(t *testing.T) {
	for _, c := range []struct {
		shape, axes []int
		width       int
		want        bool
	}{
		{[]int{5, 3}, []int{0}, 3, true}, {[]int{5, 3}, []int{0}, 2, false}, {[]int{5, 3}, []int{1}, 1, false},
		{[]int{5, 2, 3}, []int{0}, 6, true}, {[]int{5, 2, 3}, []int{1}, 3, true},
		{[]int{5, 2, 4, 3}, []int{0, 2}, 3, false},
	} {
		l := newLanes(c.shape, c.axes)
		require.Equal(t, c.want, l.dense(c.width), "%+v", c)
	}
}
