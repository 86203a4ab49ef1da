package blocktest

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/unimem"
)

const (
	page      = unimem.PageSize
	smallPage = 4 << 10 // the smallest page of any machine
)

func sizes(t *testing.T, open Open) {
	for _, c := range []struct{ ask, get int }{
		{1, page}, {page - 1, page}, {page, page}, {page + 1, 2 * page}, {1 << 20, 1 << 20}, {1<<20 + 1, 1<<20 + page},
	} {
		b := mustOpen(t, open, c.ask)
		require.Equal(t, c.get, b.Size())
		require.Len(t, b.Bytes(), c.get)
		require.Equal(t, c.get, cap(b.Bytes()))
		require.Zero(t, b.Address()%smallPage, "the address is page-aligned")
		require.NoError(t, b.Close())
	}
}

func refusedSizes(t *testing.T, open Open) {
	for _, c := range []struct {
		size int
		want error
	}{
		{0, unimem.ErrZeroSize},
		{-1, unimem.ErrSize},
		{math.MinInt, unimem.ErrSize},
		{math.MaxInt, unimem.ErrSize},
		{math.MaxInt - page + 1, unimem.ErrSize},
		{math.MaxInt - 3*page, unimem.ErrCreate},
		{math.MaxInt/2 + 1, unimem.ErrCreate},
	} {
		for _, o := range []unimem.Option{nil, unimem.Warm(), unimem.RequirePinned()} {
			b, err := open(c.size, o)
			require.ErrorIs(t, err, c.want, "size %d", c.size)
			require.Nil(t, b)
			var e *unimem.Error
			require.ErrorAs(t, err, &e)
			require.NotEmpty(t, e.Hint, "size %d: the error has a hint", c.size)
		}
	}
}

func contents(t *testing.T, open Open) {
	b := mustOpen(t, open, 5*page)
	mem := b.Bytes()
	for i, v := range mem {
		require.Zero(t, v, "byte %d of new memory", i)
	}
	for i := range mem {
		mem[i] = byte(i * 7)
	}
	for i, v := range b.Bytes() {
		require.Equal(t, byte(i*7), v, "byte %d", i)
	}
	words, err := unimem.View[uint32](mem)
	require.NoError(t, err)
	words[3] = 0
	require.Equal(t, make([]byte, 4), mem[12:16], "a view writes the same bytes")
	require.NoError(t, b.Close())
}

func identity(t *testing.T, open Open) {
	a, b := mustOpen(t, open, page), mustOpen(t, open, page)
	require.NotZero(t, a.ID())
	require.NotEqual(t, a.ID(), b.ID())
	require.NotEqual(t, a.Address(), b.Address())
	require.NotEqual(t, a.Key(), b.Key())
	require.Equal(t, a.Backing(), a.Key().Kind)
	key := a.Key()
	a.Bytes()[0] = 1
	require.Equal(t, key, a.Key(), "the Key does not change")
	for _, block := range []*unimem.Block{a, b} {
		if block.Pinned() {
			require.NoError(t, block.Unpinned())
		} else {
			require.ErrorIs(t, block.Unpinned(), unimem.ErrPin)
		}
	}
	require.Contains(t, []string{"memfd", "shm", "IOSurface", "heap"}, a.Backing())
	if a.Backing() == "heap" {
		require.Zero(t, a.Handle())
		require.False(t, a.Pinned())
	} else {
		require.NotZero(t, a.Handle())
		require.NotEqual(t, a.Handle(), b.Handle())
	}
	require.NoError(t, a.Close())
	require.NoError(t, b.Close())
}

func options(t *testing.T, open Open) {
	b := mustOpen(t, open, 3*page, unimem.Warm(), nil)
	require.Equal(t, make([]byte, 3*page), b.Bytes(), "warm memory is zero")
	require.NoError(t, b.Close())

	b, err := open(page, unimem.RequirePinned())
	if err != nil {
		require.ErrorIs(t, err, unimem.ErrPin)
		require.Nil(t, b)
	} else {
		require.True(t, b.Pinned())
		require.NoError(t, b.Close())
	}

	_, err = open(page, unimem.SurfacePerCell())
	require.ErrorIs(t, err, unimem.ErrOption)
}
