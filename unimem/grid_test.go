package unimem_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/unimem"
)

// newGrid makes a Grid, which the end of the test closes with whatever cells are taken.
func newGrid(t *testing.T, size, cells int, opts ...unimem.Option) *unimem.Grid {
	t.Helper()
	g, err := unimem.NewGrid(size, cells, append(opts, unimem.StaleOnClose())...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, g.Close()) })
	return g
}

// overGrids runs a test over each kind of memory and both ways of making cells, with fresh
// counters and with counters about to wrap around.
func overGrids(t *testing.T, test func(t *testing.T, grid func(size, cells int) *unimem.Grid)) {
	ways := map[string]unimem.Option{"carved": nil, "per cell": unimem.SurfacePerCell()}
	for way, option := range ways {
		for _, wrap := range []bool{false, true} {
			name := way
			if wrap {
				name += ", near wrap-around"
			}
			t.Run(name, func(t *testing.T) {
				overMemories(t, func(t *testing.T, memory unimem.Option) {
					test(t, func(size, cells int) *unimem.Grid {
						g := newGrid(t, size, cells, memory, option)
						if wrap {
							unimem.NearWrap(g)
						}
						return g
					})
				})
			})
		}
	}
}

func TestGridTakeGive(t *testing.T) {
	overGrids(t, func(t *testing.T, grid func(int, int) *unimem.Grid) {
		const size, count = 192, 5
		g := grid(size, count)
		require.Equal(t, size, g.CellSize())
		for round := range 5 {
			var out []unimem.Cell
			seen := map[int]bool{}
			for i := range count {
				require.Equal(t, count-i, g.Free())
				c, err := g.Take()
				require.NoError(t, err)
				require.Len(t, c.Bytes(), size)
				require.Equal(t, size, cap(c.Bytes()))
				require.Zero(t, addressOf(c.Bytes())%64)
				require.Equal(t, c.Block().Address()+uintptr(c.Offset()), addressOf(c.Bytes()))
				require.False(t, seen[c.Index()], "cell %d is taken twice", c.Index())
				seen[c.Index()] = true
				fill(c.Bytes(), byte(c.Index()+round))
				out = append(out, c)
			}
			require.Zero(t, g.Free())
			_, err := g.Take()
			require.Equal(t, unimem.ErrGridFull, err)
			for _, c := range out {
				require.Equal(t, filled(size, byte(c.Index()+round)), c.Bytes(), "a neighbor wrote into cell %d",
					c.Index())
			}
			for i, c := range out {
				require.NoError(t, g.Give(c))
				require.Equal(t, i+1, g.Free())
			}
			require.Equal(t, count, g.Total())
		}
	})
}

func fill(b []byte, v byte) {
	for i := range b {
		b[i] = v
	}
}

func filled(n int, v byte) []byte {
	b := make([]byte, n)
	fill(b, v)
	return b
}

func TestGridAbuse(t *testing.T) {
	overGrids(t, func(t *testing.T, grid func(int, int) *unimem.Grid) {
		g, other := grid(64, 3), grid(64, 3)
		require.Equal(t, unimem.ErrForeignCell, g.Give(unimem.Cell{}))
		foreign, err := other.Take()
		require.NoError(t, err)
		require.Equal(t, unimem.ErrForeignCell, g.Give(foreign))
		require.NotNil(t, foreign.Bytes(), "a refused Give changes nothing")

		for range 10 {
			c, err := g.Take()
			require.NoError(t, err)
			copied := c
			require.NoError(t, g.Give(c))
			for _, stale := range []unimem.Cell{c, copied} {
				require.Equal(t, unimem.ErrStaleCell, g.Give(stale))
				require.Nil(t, stale.Bytes())
				require.Nil(t, stale.Block())
			}
			again, err := g.Take()
			require.NoError(t, err)
			require.Equal(t, c.Index(), again.Index(), "the cell given last comes first")
			require.Equal(t, unimem.ErrStaleCell, g.Give(c), "an older holder cannot give the cell of a newer one")
			require.Nil(t, c.Bytes())
			require.NotNil(t, again.Bytes())
			require.Equal(t, 2, g.Free())
			require.NoError(t, g.Give(again))
			require.Equal(t, 3, g.Free())
		}
		require.NoError(t, other.Give(foreign))
	})
}

func TestZeroCellAndGrid(t *testing.T) {
	var c unimem.Cell
	require.Nil(t, c.Bytes())
	require.Nil(t, c.Block())
	require.Zero(t, c.Index())
	require.Zero(t, c.Offset())
	for _, g := range []*unimem.Grid{nil, {}} {
		_, err := g.Take()
		require.Equal(t, unimem.ErrClosed, err)
		require.Equal(t, unimem.ErrForeignCell, g.Give(c))
		require.NoError(t, g.Close())
	}
}

func TestGridRefusals(t *testing.T) {
	for _, c := range []struct {
		size, cells int
		want        error
	}{
		{0, 1, unimem.ErrCellSize},
		{-64, 1, unimem.ErrCellSize},
		{63, 1, unimem.ErrCellSize},
		{65, 1, unimem.ErrCellSize},
		{math.MinInt, 1, unimem.ErrCellSize},
		{64, 0, unimem.ErrZeroSize},
		{64, -1, unimem.ErrSize},
		{64, unimem.MaxCells + 1, unimem.ErrSize},
		{64, math.MaxInt, unimem.ErrSize},
		{math.MaxInt &^ 63, 2, unimem.ErrSize},
		{math.MaxInt &^ 63, 1, unimem.ErrSize},
		{1 << 50, 1 << 10, unimem.ErrCreate},
	} {
		for _, o := range []unimem.Option{nil, unimem.SurfacePerCell(), unimem.OnHeap()} {
			g, err := unimem.NewGrid(c.size, c.cells, o)
			require.ErrorIs(t, err, c.want, "%d cells of %d", c.cells, c.size)
			require.Nil(t, g)
			var e *unimem.Error
			require.ErrorAs(t, err, &e)
		}
	}
}

func TestGridOfAllCells(t *testing.T) {
	g := newGrid(t, 64, unimem.MaxCells)
	var out []unimem.Cell
	for i := range unimem.MaxCells {
		c, err := g.Take()
		require.NoError(t, err)
		require.Equal(t, i, c.Index())
		out = append(out, c)
	}
	_, err := g.Take()
	require.Equal(t, unimem.ErrGridFull, err)
	for _, c := range out {
		require.NoError(t, g.Give(c))
	}
	require.Equal(t, unimem.MaxCells, g.Free())
}

func TestSurfacePerCell(t *testing.T) {
	overMemories(t, func(t *testing.T, memory unimem.Option) {
		g := newGrid(t, 128, 3, memory, unimem.SurfacePerCell())
		seen := map[uint32]bool{}
		for range 3 {
			c, err := g.Take()
			require.NoError(t, err)
			require.Zero(t, c.Offset())
			require.Equal(t, c.Block().Address(), addressOf(c.Bytes()))
			require.Equal(t, page, c.Block().Size())
			seen[c.Block().ID()] = true
		}
		require.Len(t, seen, 3)

		carved := newGrid(t, 128, 3, memory)
		a, err := carved.Take()
		require.NoError(t, err)
		b, err := carved.Take()
		require.NoError(t, err)
		require.Equal(t, a.Block(), b.Block())
		require.Equal(t, 128, b.Offset())
	})
}

func TestGridClose(t *testing.T) {
	for _, way := range []unimem.Option{nil, unimem.SurfacePerCell()} {
		overMemories(t, func(t *testing.T, memory unimem.Option) {
			g, err := unimem.NewGrid(64, 3, memory, way, unimem.StaleOnClose())
			require.NoError(t, err)
			a, err := g.Take()
			require.NoError(t, err)
			b, err := g.Take()
			require.NoError(t, err)
			block := b.Block()
			require.ErrorIs(t, block.Close(), unimem.ErrInUse, "the Grid owns its Blocks")

			require.NoError(t, block.Retain())
			require.ErrorIs(t, g.Close(), unimem.ErrInUse)
			a.Bytes()[0], b.Bytes()[63] = 1, 2
			require.NoError(t, a.Block().Retain(), "the Blocks are still open")
			a.Block().Release()
			require.NoError(t, g.Give(b))
			b, err = g.Take()
			require.NoError(t, err)
			block.Release()

			require.NoError(t, g.Close())
			require.NoError(t, g.Close())
			for _, c := range []unimem.Cell{a, b} {
				require.Nil(t, c.Bytes())
				require.Nil(t, c.Block())
				require.Equal(t, unimem.ErrClosed, g.Give(c))
			}
			_, err = g.Take()
			require.Equal(t, unimem.ErrClosed, err)
			require.Zero(t, g.Free())
			require.Equal(t, 3, g.Total())
			require.Nil(t, block.Bytes())
			require.NoError(t, block.Close())
			require.ErrorIs(t, block.Retain(), unimem.ErrClosed)
		})
	}
}

// Close with cells out would free memory that their holders use.
func TestGridCloseWithCellsOut(t *testing.T) {
	for _, way := range []unimem.Option{nil, unimem.SurfacePerCell()} {
		overMemories(t, func(t *testing.T, memory unimem.Option) {
			g, err := unimem.NewGrid(64, 3, memory, way)
			require.NoError(t, err)
			a, b := take(t, g), take(t, g)
			for _, out := range []string{"2 of 3", "1 of 3"} {
				err = g.Close()
				require.ErrorIs(t, err, unimem.ErrInUse)
				require.ErrorContains(t, err, out+" cells are taken")
				require.ErrorContains(t, err, "StaleOnClose")
				a.Bytes()[0], a.Bytes()[63] = 1, 2
				c := take(t, g)
				require.NoError(t, g.Give(c), "a refused Close changes nothing")
				_ = g.Give(b)
			}
			require.NoError(t, g.Give(a))
			require.Equal(t, 3, g.Free())

			c := take(t, g)
			block := c.Block()
			require.NoError(t, g.Give(c))
			require.NoError(t, block.Retain())
			err = g.Close()
			require.ErrorIs(t, err, unimem.ErrInUse)
			require.ErrorContains(t, err, "Retain")
			require.Equal(t, 3, g.Free())
			c = take(t, g)
			require.NoError(t, g.Give(c), "a refused Close changes nothing")
			block.Release()
			require.NoError(t, g.Close())
			require.NoError(t, g.Close())
			_, err = g.Take()
			require.Equal(t, unimem.ErrClosed, err)
			require.Equal(t, unimem.ErrClosed, g.Give(a))
			require.Zero(t, g.Free())
		})
	}
}

// The largest Grid has the fewest bits for a generation: 22. A cell given before they wrap around
// is stale after it. The first cell has more.
func TestStaleGiveAfterAllGenerations(t *testing.T) {
	g := newGrid(t, 64, unimem.MaxCells)
	_, second := take(t, g), take(t, g)
	require.NoError(t, g.Give(second))
	eras := 2
	if testing.Short() {
		eras = 1
	}
	for range eras {
		for range 1<<22 - 1 {
			c, err := g.Take()
			if err == nil {
				err = g.Give(c)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		holder := take(t, g)
		require.Equal(t, second.Index(), holder.Index())
		require.Equal(t, unimem.ErrStaleCell, g.Give(second))
		require.Nil(t, second.Bytes())
		require.NotNil(t, holder.Bytes())
		require.NoError(t, g.Give(holder))
	}
	require.Equal(t, unimem.MaxCells-1, g.Free())
}

// A cell stays its holder's while the generations of others begin again, and it is stale after that of its own did.
func TestCellsOutliveErasOfOthers(t *testing.T) {
	g := newGrid(t, 64, 4, unimem.OnHeap())
	unimem.NearWrap(g)
	_, held := take(t, g), take(t, g)
	for range 2 {
		given := take(t, g)
		require.NoError(t, g.Give(given))
		for range 4 {
			require.NoError(t, g.Give(take(t, g)))
		}
		require.Equal(t, unimem.ErrStaleCell, g.Give(given))
		require.Nil(t, given.Bytes())
		require.Len(t, held.Bytes(), 64)
	}
	require.NoError(t, g.Give(held))
	require.Equal(t, unimem.ErrStaleCell, g.Give(held))
	require.Nil(t, held.Bytes())
	require.Equal(t, 3, g.Free())
}

func TestStaleOnCloseIsForGrids(t *testing.T) {
	for name, open := range map[string]func(unimem.Option) error{
		"open":   func(o unimem.Option) error { _, err := unimem.Open(1, o); return err },
		"start":  func(o unimem.Option) error { _, err := unimem.Start(1, o); return err },
		"layout": func(o unimem.Option) error { _, err := unimem.NewLayout(1, 1, 1, o); return err },
	} {
		err := open(unimem.StaleOnClose())
		require.ErrorIs(t, err, unimem.ErrOption, name)
		require.ErrorContains(t, err, "StaleOnClose", name)
	}
}

// Take returns the first cell where it is free, otherwise the last given.
func TestOrderOfCells(t *testing.T) {
	overGrids(t, func(t *testing.T, grid func(int, int) *unimem.Grid) {
		g := grid(64, 4)
		cells := []unimem.Cell{take(t, g), take(t, g), take(t, g), take(t, g)}
		for i, c := range cells {
			require.Equal(t, i, c.Index())
		}
		for _, i := range []int{2, 0, 3, 1} {
			require.NoError(t, g.Give(cells[i]))
		}
		for _, want := range []int{0, 1, 3, 2} {
			require.Equal(t, want, take(t, g).Index())
		}
	})
}

func TestGridAllocatesNothing(t *testing.T) {
	g := newGrid(t, 64, 2)
	full := newGrid(t, 64, 1)
	stale, err := full.Take()
	require.NoError(t, err)
	require.NoError(t, full.Give(stale))
	_, err = full.Take()
	require.NoError(t, err)
	for name, f := range map[string]func(){
		"take and give": func() {
			c, _ := g.Take()
			c.Bytes()[0]++
			_ = g.Give(c)
		},
		"full":  func() { _, _ = full.Take() },
		"stale": func() { _ = full.Give(stale) },
		"zero":  func() { _ = full.Give(unimem.Cell{}) },
		"free":  func() { _ = g.Free() },
	} {
		require.Zero(t, testing.AllocsPerRun(100, f), name)
	}
}
