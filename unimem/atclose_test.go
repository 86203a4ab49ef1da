package unimem_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/unimem"
)

func TestAtCloseRunsOnceBeforeTheMemoryIsFreed(t *testing.T) {
	b, err := unimem.Open(1)
	require.NoError(t, err)
	mem := b.Bytes()
	var order []string
	note := func(name string) func() { return func() { mem[0]++; order = append(order, name) } }
	_, err = b.AtClose(note("first"))
	require.NoError(t, err)
	cancel, err := b.AtClose(note("cancelled"))
	require.NoError(t, err)
	_, err = b.AtClose(note("last"))
	require.NoError(t, err)
	require.True(t, cancel())
	require.False(t, cancel())

	require.NoError(t, b.Retain())
	require.ErrorIs(t, b.Close(), unimem.ErrInUse)
	require.Empty(t, order, "a refused Close changes nothing")
	b.Release()
	require.NoError(t, b.Close())
	require.NoError(t, b.Close())
	require.Equal(t, []string{"last", "first"}, order)

	_, err = b.AtClose(note("late"))
	require.ErrorIs(t, err, unimem.ErrClosed)
	var none *unimem.Block
	_, err = none.AtClose(note("nil"))
	require.ErrorIs(t, err, unimem.ErrClosed)
}

func TestAtCloseOfCells(t *testing.T) {
	g, err := unimem.NewGrid(64, 3, unimem.SurfacePerCell(), unimem.StaleOnClose())
	require.NoError(t, err)
	n := 0
	for range 3 {
		c, err := g.Take()
		require.NoError(t, err)
		_, err = c.Block().AtClose(func() { n++ })
		require.NoError(t, err)
		defer func() { require.Equal(t, unimem.ErrClosed, g.Give(c)) }()
	}
	require.NoError(t, g.Close())
	require.Equal(t, 3, n)
}

// A function that panics leaks nothing: the others run, and the memory is freed.
func TestAtCloseThatPanics(t *testing.T) {
	overMemories(t, func(t *testing.T, memory unimem.Option) {
		live := unimem.Live()
		var ran []int
		watch := func(b *unimem.Block) {
			for i := range 3 {
				_, err := b.AtClose(func() {
					ran = append(ran, i)
					if i > 0 {
						panic(i)
					}
				})
				require.NoError(t, err)
			}
		}
		b, err := unimem.Open(1, memory)
		require.NoError(t, err)
		watch(b)
		require.PanicsWithValue(t, 1, func() { _ = b.Close() })
		require.Equal(t, []int{2, 1, 0}, ran)
		require.Equal(t, live, unimem.Live())
		require.NoError(t, b.Close())

		g, err := unimem.NewGrid(64, 3, memory, unimem.SurfacePerCell(), unimem.StaleOnClose())
		require.NoError(t, err)
		l, err := unimem.NewLayout(1, 1, 1, memory)
		require.NoError(t, err)
		for range 3 {
			c := take(t, g)
			watch(c.Block())
		}
		for _, p := range []*unimem.Tape{l.Weights(), l.Scratch(), l.History()} {
			watch(p.Block())
		}
		ran = nil
		require.Panics(t, func() { _ = g.Close() })
		require.Panics(t, func() { _ = l.Close() })
		require.Len(t, ran, 18)
		require.Equal(t, live, unimem.Live())
		require.NoError(t, g.Close())
		require.NoError(t, l.Close())
	})
}

// TestAtCloseWithoutFunction: it is refused when it is registered; Close would panic.
func TestAtCloseWithoutFunction(t *testing.T) {
	b, err := unimem.Open(1, unimem.OnHeap())
	require.NoError(t, err)
	_, err = b.AtClose(nil)
	require.ErrorIs(t, err, unimem.ErrOption)
	require.NoError(t, b.Close())
}
