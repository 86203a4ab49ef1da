package soft

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/effort"
)

// TestHeapTakesTheSmallestGap frees 10, 6, 6 and 20 bytes with pieces of 1 between them.
func TestHeapTakesTheSmallestGap(t *testing.T) {
	free := func() *heap {
		h := &heap{}
		var at []int
		for _, n := range []int{10, 1, 6, 1, 6, 1, 20} {
			at = append(at, h.take(n))
		}
		require.Equal(t, []int{0, 10, 11, 17, 18, 24, 25}, at)
		h.give(0, 10)
		h.give(11, 6)
		h.give(18, 6)
		h.give(25, 20)
		return h
	}
	for n, want := range map[int]int{1: 11, 5: 11, 6: 11, 7: 0, 10: 0, 11: 25, 20: 25} {
		h := free()
		require.Equal(t, want, h.take(n), "%d bytes", n)
		require.Equal(t, 45, h.top)
	}
	h := free()
	require.Equal(t, 25, h.take(21), "the gap at the end grows")
	require.Equal(t, 46, h.top)

	h = &heap{}
	h.give(h.take(4), 4)
	require.Equal(t, 0, h.take(5), "the only gap grows")
	require.Equal(t, 5, h.top)
}

func TestAlignRoundsUpToRows(t *testing.T) {
	const row = ane.RowAlign
	for n, want := range map[int]int{0: 0, 1: row, row - 1: row, row: row, row + 1: 2 * row} {
		require.Equal(t, want, align(n), "%d", n)
	}
}

// TestWalksAreMerged: axes that are contiguous in both operands are merged.
func TestWalksAreMerged(t *testing.T) {
	w := broadcast([]int{2, 3, 4}, []int{2, 3, 4}, []int{2, 3, 4})
	require.Equal(t, []int{24}, w.dims)
	w = broadcast([]int{2, 3, 4}, []int{2, 3, 4}, []int{3, 4})
	require.Equal(t, []int{2, 12}, w.dims)
	for i := range w.total {
		x, y, n := w.at(i)
		require.Equal(t, i, x)
		require.Equal(t, i%12, y)
		require.Equal(t, 12-i%12, n, "the elements to the end of the axis")
	}
}

// visits is a runner that records its pieces.
type visits struct {
	mu    sync.Mutex
	spans [][2]int
}

func (*visits) run(*call) {}

func (v *visits) span(_ *call, lo, hi, _ int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.spans = append(v.spans, [2]int{lo, hi})
}

// The pieces of a fork follow each other and cover everything once.
func TestForksCutIntoPieces(t *testing.T) {
	for _, n := range []int{7, 16, 100} {
		for _, pieces := range []int{2, 3, 5, 7} {
			v := &visits{}
			c := &call{run: v}
			c.fork(n, pieces)
			slices.SortFunc(v.spans, func(a, b [2]int) int { return a[0] - b[0] })
			require.Len(t, v.spans, pieces)
			at := 0
			for _, s := range v.spans {
				require.Equal(t, at, s[0], "%d in %d pieces", n, pieces)
				require.Less(t, s[0], s[1])
				at = s[1]
			}
			require.Equal(t, n, at)
		}
	}
}

// A step that uses up the budget runs. One that needs more is declined.
func TestBudgetsAreSpentWhole(t *testing.T) {
	budget := 12
	for _, c := range []struct{ n, cost, left int }{{5, 2, 2}, {2, 1, 0}} {
		v := &visits{}
		call := call{run: v, budget: &budget}
		call.spread(c.n, c.cost)
		require.False(t, call.declined)
		require.Equal(t, [][2]int{{0, c.n}}, v.spans)
		require.Equal(t, c.left, budget)
	}
	for _, cost := range []int{1, math.MaxInt} {
		budget = 0
		v := &visits{}
		call := call{run: v, budget: &budget}
		call.spread(3, cost)
		require.True(t, call.declined)
		require.Empty(t, v.spans)
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
	require.Equal(t, 5, l.groups)
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

func (p *counted) left(_ *call, dst, _ []float32, _, _, _ int) []float32 {
	p.lefts++
	return ones(dst)
}

func (p *counted) right(_ *call, dst, _ []float32, _, _, _ int) []float32 {
	p.rights++
	return ones(dst)
}

func (p *counted) store(*call, []float32, []float32, int, int, int, int, int) {}

// TestTilesSharePanels: the tiles of a range of columns of one matrix share one load of these columns.
func TestTilesSharePanels(t *testing.T) {
	p := &counted{}
	const batch, down, across = 2, 4, 3
	r, work := newProduct(batch, down*tileRows, 8, across*tileCols, 0, p)
	c := &call{run: r, ctx: t.Context(), workers: 1, work: [][]float32{make([]float32, work)}}
	r.run(c)
	require.Equal(t, batch*across, p.rights)
	require.Equal(t, batch*across*down, p.lefts)
}

// TestLargeTurns: a matrix that is larger than the caches is turned with the next piece fetched ahead.
func TestLargeTurns(t *testing.T) {
	effort.SkipShort(t)
	const rows, cols = 2048 + 7, 4096 + 3
	r, _ := move(2, box{dims: []int{cols, rows}, src: []int{1, cols}, dst: []int{rows, 1}})
	require.True(t, r.(*turner).past)
	from, to := vec{pairs: make([]uint16, rows*cols)}, vec{pairs: make([]uint16, rows*cols)}
	for i := range from.pairs {
		from.pairs[i] = uint16(i ^ i>>16)
	}
	r.run(&call{run: r, ctx: t.Context(), workers: 1, in: []vec{from}, out: []vec{to}})
	for row := range rows {
		for col := range cols {
			if from.pairs[row*cols+col] != to.pairs[col*rows+row] {
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

// TestToOdd compares with the definition: an exact value stays, any other becomes the
// one of its two neighbours whose last bit is set.
func TestToOdd(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		f := r.NormFloat64() * math.Pow(10, float64(r.IntN(20)-10))
		got := toOdd(f)
		require.NotEqual(t, f, float64(got), "all 53 bits are used")
		require.EqualValues(t, 1, math.Float32bits(got)&1)
		other := math.Nextafter32(got, float32(math.Inf(1)))
		if float64(got) > f {
			other = math.Nextafter32(got, float32(math.Inf(-1)))
		}
		low, high := min(float64(got), float64(other)), max(float64(got), float64(other))
		require.True(t, low < f && f < high, "%v lies between %v and %v", f, low, high)
		require.Equal(t, got, toOdd(float64(got)))
	}
	// All exponents, and what is dropped at its ends: both ways of toOdd have the same bits.
	for e := range uint64(1 << 11) {
		for _, kept := range []uint64{0, 1 << 29, r.Uint64() >> 12, 1<<52 - 1<<29} {
			for _, dropped := range []uint64{0, 1, 1<<28 - 1, 1 << 28, 1<<28 + 1, 1<<29 - 1} {
				f := math.Float64frombits(e<<52 | kept&^(1<<29-1) | dropped)
				require.Equal(t, math.Float32bits(toOddRare(f)), math.Float32bits(toOdd(f)), "%x", f)
				require.Equal(t, math.Float32bits(toOddRare(-f)), math.Float32bits(toOdd(-f)), "%x", -f)
			}
		}
	}
}
