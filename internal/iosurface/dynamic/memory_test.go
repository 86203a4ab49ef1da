//go:build linux && cgo

package dynamic_test

import (
	"testing"

	"github.com/ebitengine/purego"
	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/blocktest"
	"github.com/anekit/anekit/unimem"
)

const page = unimem.PageSize

// The suite of every backend, on the code that runs on macOS.
func TestBlocks(t *testing.T) {
	s := gated(t)
	blocktest.Run(t, func(size int, opts ...unimem.Option) (*unimem.Block, error) {
		return unimem.Open(size, append(opts, s.Option())...)
	})
}

func TestBlockIsOneSurfaceLockedForLife(t *testing.T) {
	s := gated(t)
	b, err := unimem.Open(1, s.Option(), unimem.Warm())
	require.NoError(t, err)
	require.Equal(t, "IOSurface", b.Backing())
	require.False(t, b.Pinned(), "a lock promises no wired pages")
	require.ErrorIs(t, b.Unpinned(), unimem.ErrPin)
	require.ErrorIs(t, b.Unpinned(), unimem.ErrPinUnknown)
	_, err = unimem.Open(1, s.Option(), unimem.RequirePinned())
	require.ErrorIs(t, err, unimem.ErrPinUnknown)
	require.ErrorContains(t, err, "open without RequirePinned")
	require.Equal(t, [4]int64{1, 1, 1, page}, s.now().alive(), "one object, the surface, locked once")
	require.EqualValues(t, 1, s.locks(b.Handle()))
	require.Equal(t, s.id(t, b.Handle()), b.ID())

	b.Bytes()[page-1] = 7
	m, err := unimem.Map(b)
	require.NoError(t, err)
	require.Same(t, &b.Bytes()[0], &m.Bytes()[0], "a surface has one address in the process that made it")
	require.EqualValues(t, 7, m.Bytes()[page-1])
	require.EqualValues(t, 2, s.locks(b.Handle()), "a Mapping locks as well")
	require.ErrorIs(t, b.Close(), unimem.ErrInUse)
	require.NoError(t, m.Close())
	require.EqualValues(t, 1, s.locks(b.Handle()))
	require.NoError(t, b.Close())
	require.NoError(t, b.Close())
}

func TestGridWithSurfacePerCell(t *testing.T) {
	s := gated(t)
	const cells = 5
	g, err := unimem.NewGrid(page+64, cells, s.Option(), unimem.SurfacePerCell(), unimem.StaleOnClose())
	require.NoError(t, err)
	require.Equal(t, [4]int64{cells, cells, cells, cells * 2 * page}, s.now().alive())
	ids := map[uint32]bool{}
	for i := range cells {
		c, err := g.Take()
		require.NoError(t, err)
		require.Zero(t, c.Offset())
		require.Equal(t, "IOSurface", c.Block().Backing())
		require.EqualValues(t, 1, s.locks(c.Block().Handle()))
		ids[c.Block().ID()] = true
		c.Bytes()[page] = byte(i + 1)
		m, err := unimem.Map(c.Block())
		require.NoError(t, err)
		require.EqualValues(t, i+1, m.Bytes()[page])
		require.ErrorIs(t, g.Close(), unimem.ErrInUse)
		require.NoError(t, m.Close())
	}
	require.Len(t, ids, cells, "each cell has its own surface")
	require.NoError(t, g.Close())
}

func TestTapeAndLayoutAndCarvedGrid(t *testing.T) {
	s := gated(t)
	p, err := unimem.Start(3*page, s.Option())
	require.NoError(t, err)
	b, err := p.Take(page, 64)
	require.NoError(t, err)
	b[0] = 1
	require.Equal(t, "IOSurface", p.Block().Backing())

	l, err := unimem.NewLayout(page, 2*page, 3*page, s.Option())
	require.NoError(t, err)
	for _, tape := range []*unimem.Tape{l.Weights(), l.Scratch(), l.History()} {
		require.EqualValues(t, 1, s.locks(tape.Block().Handle()))
		_, err = tape.Take(page, 64)
		require.NoError(t, err)
	}

	g, err := unimem.NewGrid(64, 16, s.Option())
	require.NoError(t, err)
	require.Equal(t, [4]int64{5, 5, 5, (3 + 6 + 1) * page}, s.now().alive())
	c, err := g.Take()
	require.NoError(t, err)
	require.NoError(t, g.Give(c))

	require.NoError(t, g.Close())
	require.NoError(t, l.Close())
	require.NoError(t, p.Close())
}

// A Block tells how a surface is marked as in use, and other memory does not.
func TestUses(t *testing.T) {
	s := gated(t)
	b, err := unimem.Open(1, s.Option())
	require.NoError(t, err)
	used := func() []any {
		count, inUse, known := b.Uses()
		return []any{count, inUse, known}
	}
	require.Equal(t, []any{0, false, true}, used())
	purego.SyscallN(s.symbol(t, "IOSurfaceIncrementUseCount"), b.Handle())
	require.Equal(t, []any{1, true, true}, used())
	purego.SyscallN(s.symbol(t, "IOSurfaceDecrementUseCount"), b.Handle())
	require.Equal(t, []any{0, false, true}, used())
	require.NoError(t, b.Close())
	require.Equal(t, []any{0, false, false}, used())
	heap, err := unimem.Open(1, unimem.OnHeap())
	require.NoError(t, err)
	defer func() { require.NoError(t, heap.Close()) }()
	_, _, known := heap.Uses()
	require.False(t, known)
	_, _, known = (*unimem.Block)(nil).Uses()
	require.False(t, known)
}
