package unimem_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/unimem"
)

// Races between two steps of a lock-free operation are too rare to occur by chance, so these
// tests stop between the steps and run other operations.

func take(t *testing.T, g *unimem.Grid) unimem.Cell {
	t.Helper()
	c, err := g.Take()
	require.NoError(t, err)
	return c
}

// Take reads the head; before it pops, the same cell is given again, on top of others. The first cell is not in the
// stack.
func TestTakeNoticesReturnOfTheSameCell(t *testing.T) {
	overGrids(t, func(t *testing.T, grid func(int, int) *unimem.Grid) {
		g := grid(64, 4)
		_ = take(t, g)
		for range 10 {
			head := unimem.Head(g)
			a, b := take(t, g), take(t, g)
			require.NoError(t, g.Give(a))
			require.Equal(t, unimem.Top(g, head), unimem.Top(g, unimem.Head(g)), "the same cell is on top")
			require.False(t, unimem.TakeFrom(g, head), "it would make the cell below the head, which is taken")
			require.NoError(t, g.Give(b))
			require.Equal(t, 3, g.Free())
		}
	})
}

// Free reads the head; before it reads the depth, cells are taken and given.
func TestFreeNoticesChanges(t *testing.T) {
	g := newGrid(t, 64, 4, unimem.OnHeap())
	head := unimem.Head(g)
	for want := 4; want > 2; want-- {
		n, ok := unimem.FreeFrom(g, head)
		require.True(t, ok)
		require.Equal(t, want, n)
		if want > 3 {
			_ = take(t, g) // the first cell, which is not in the stack
		}
	}
	a := take(t, g)
	_, ok := unimem.FreeFrom(g, head)
	require.False(t, ok)
	b := take(t, g)
	require.NoError(t, g.Give(a))
	_, ok = unimem.FreeFrom(g, head)
	require.False(t, ok, "the same cell is on top, at another depth")
	require.NoError(t, g.Give(b))
}

// Take reads that the stack is empty; before it reads that the first cell is taken, another cell is given and the first
// one taken.
func TestFullNoticesChanges(t *testing.T) {
	g := newGrid(t, 64, 2, unimem.OnHeap())
	a, b := take(t, g), take(t, g)
	head := unimem.Head(g)
	full := func() bool { n, ok := unimem.FreeFrom(g, head); return ok && n == 0 }
	require.True(t, full())
	require.NoError(t, g.Give(a))
	require.False(t, full())
	require.NoError(t, g.Give(b))
	a = take(t, g)
	require.False(t, full(), "there always was a free cell")
	_ = take(t, g)
	require.False(t, full(), "the stack is empty again, after a pop")
	require.Zero(t, a.Index())
}

// Take and Free wait for a Close that has stopped the first cell, because it may be refused.
func TestTakeWaitsForClose(t *testing.T) {
	g := newGrid(t, 64, 1, unimem.OnHeap())
	restore := unimem.StopFirst(g)
	_, ok := unimem.FreeFrom(g, unimem.Head(g))
	require.False(t, ok)
	restore()
	require.Equal(t, 1, g.Free())
	require.Zero(t, take(t, g).Index())
}

// Close stops the stack; before it stops the first cell, that is taken, so that Close is refused.
func TestCloseNoticesTakeOfTheFirstCell(t *testing.T) {
	overGrids(t, func(t *testing.T, grid func(int, int) *unimem.Grid) {
		g := grid(64, 3)
		finish := unimem.StopStack(g)
		first := take(t, g)
		require.Zero(t, first.Index())
		done, err := finish()
		require.NoError(t, err)
		require.False(t, done)
		require.Len(t, first.Bytes(), 64)
		require.Equal(t, 2, g.Free())
		require.Equal(t, 1, take(t, g).Index())
		require.NoError(t, g.Give(first))
		require.Equal(t, 2, g.Free())
	})
}

// A Close with StaleOnClose that returns nil after the first step of another has closed the Grid.
func TestSecondCloseCloses(t *testing.T) {
	g, err := unimem.NewGrid(64, 3, unimem.OnHeap(), unimem.StaleOnClose())
	require.NoError(t, err)
	a, b := take(t, g), take(t, g)
	finish := unimem.EndLife(g)
	require.NoError(t, g.Close())
	_, err = g.Take()
	require.Equal(t, unimem.ErrClosed, err)
	for _, c := range []unimem.Cell{a, b} {
		require.Nil(t, c.Bytes())
		require.Equal(t, unimem.ErrClosed, g.Give(c))
	}
	require.NoError(t, finish())
}

// Give during a half-done Close pushes nothing.
func TestGiveWhileClosing(t *testing.T) {
	g, err := unimem.NewGrid(64, 3, unimem.OnHeap())
	require.NoError(t, err)
	a, b := take(t, g), take(t, g)
	finish := unimem.HalfClose(g)
	require.Equal(t, unimem.ErrClosed, g.Give(a))
	_, err = g.Take()
	require.Equal(t, unimem.ErrClosed, err)
	require.NoError(t, finish())
	for _, c := range []unimem.Cell{a, b} {
		require.Equal(t, unimem.ErrClosed, g.Give(c))
		require.Nil(t, c.Bytes())
	}
	require.NoError(t, g.Close())
}
