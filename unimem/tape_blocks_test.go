package unimem_test

import (
	"math"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/unimem"
)

// TestSurfacePerSpan: each span is at byte 0 of a Block of its own, and Clear keeps the Blocks for later spans.
func TestSurfacePerSpan(t *testing.T) {
	overMemories(t, func(t *testing.T, memory unimem.Option) {
		tape, err := unimem.Start(0, memory, unimem.SurfacePerSpan())
		require.NoError(t, err)
		require.True(t, tape.SurfacePerSpan())
		require.Nil(t, tape.Block())
		live := unimem.Live()
		place := func(size int) (span []byte, b *unimem.Block) {
			span, err := tape.Take(size, 64)
			require.NoError(t, err)
			require.Len(t, span, size)
			require.Equal(t, size, cap(span))
			b, offset, err := tape.Place(span)
			require.NoError(t, err)
			require.Zero(t, offset)
			return span, b
		}
		first, a := place(100)
		second, b := place(3 * page)
		require.NotSame(t, a, b)
		require.Equal(t, 100+3*page, tape.Used())
		require.Equal(t, 4*page, tape.Total())
		inner, at, err := tape.Place(second[64:128])
		require.NoError(t, err)
		require.Same(t, b, inner)
		require.Equal(t, 64, at)
		require.ErrorIs(t, a.Close(), unimem.ErrInUse, "the Tape owns it")

		generation := tape.Generation()
		tape.Clear()
		require.NotEqual(t, generation, tape.Generation())
		require.Zero(t, tape.Used())
		require.False(t, tape.Taken(first), "the span is cleared")
		require.True(t, tape.Owns(second), "its Block is kept")
		_, _, err = tape.Place(make([]byte, 8))
		require.ErrorIs(t, err, unimem.ErrForeignSpan)
		_, again := place(2 * page)
		require.Same(t, b, again, "the first Block is too small")
		_, again = place(1)
		require.Same(t, a, again)
		require.Equal(t, live.Blocks+2, unimem.Live().Blocks)

		require.NoError(t, a.Retain())
		require.ErrorIs(t, tape.Close(), unimem.ErrInUse)
		place(1)
		a.Release()
		require.NoError(t, tape.Close())
		require.NoError(t, tape.Close())
		require.Equal(t, live, unimem.Live())
		_, err = tape.Take(1, 1)
		require.Equal(t, unimem.ErrClosed, err)
		_, _, err = tape.Place(second)
		require.ErrorIs(t, err, unimem.ErrClosed)
		require.Zero(t, tape.Free())
	})
}

// TestInBlocks: spans share Blocks, a longer one has its own, and the limit is of the spans together.
func TestInBlocks(t *testing.T) {
	overMemories(t, func(t *testing.T, memory unimem.Option) {
		tape, err := unimem.Start(8*page, memory, unimem.InBlocks(2*page))
		require.NoError(t, err)
		defer func() { require.NoError(t, tape.Close()) }()
		require.False(t, tape.SurfacePerSpan())
		require.Equal(t, 8*page, tape.Free())
		var blocks []*unimem.Block
		for _, c := range []struct{ size, align, block, offset int }{
			{1, 1, 0, 0}, {page, 64, 0, 64}, {page - 64, 1, 0, page + 64}, {1, 1, 1, 0}, {3 * page, page, 2, 0}, {64, 64, 3, 0},
		} {
			span, err := tape.Take(c.size, c.align)
			require.NoError(t, err)
			b, offset, err := tape.Place(span)
			require.NoError(t, err)
			require.Equal(t, c.offset, offset)
			if c.block == len(blocks) {
				require.NotContains(t, blocks, b)
				blocks = append(blocks, b)
			}
			require.Same(t, blocks[c.block], b)
		}
		_, err = tape.Take(4*page, 1)
		require.Equal(t, unimem.ErrTapeFull, err)
		for _, c := range []struct {
			size, align int
			want        error
		}{
			{1, 0, unimem.ErrInvalidAlignment}, {1, 3, unimem.ErrInvalidAlignment},
			{1, 2 * unimem.PageSize, unimem.ErrInvalidAlignment},
			{-1, 1, unimem.ErrSize}, {math.MaxInt, 1, unimem.ErrSize},
		} {
			_, err := tape.Take(c.size, c.align)
			require.ErrorIs(t, err, c.want)
		}
		empty, err := tape.Take(0, 1)
		require.NoError(t, err)
		require.Empty(t, empty)
		number, err := unimem.TakeOne[uint64](tape)
		require.NoError(t, err)
		*number = 7
	})
}

// Spans that goroutines take at the same time do not overlap.
func TestInBlocksTogether(t *testing.T) {
	tape, err := unimem.Start(0, unimem.OnHeap(), unimem.InBlocks(page))
	require.NoError(t, err)
	defer func() { require.NoError(t, tape.Close()) }()
	var wait sync.WaitGroup
	spans := make([][]byte, 64)
	for i := range spans {
		wait.Go(func() {
			span, err := tape.Take(page/8, 1)
			if err == nil {
				for j := range span {
					span[j] = byte(i)
				}
				spans[i] = span
			}
		})
	}
	wait.Wait()
	for i, span := range spans {
		require.Len(t, span, page/8)
		for _, b := range span {
			require.Equal(t, byte(i), b)
		}
	}
}

func TestInBlocksRefusals(t *testing.T) {
	for _, o := range []unimem.Option{unimem.SurfacePerSpan(), unimem.InBlocks(page)} {
		_, err := unimem.Open(page, o)
		require.ErrorIs(t, err, unimem.ErrOption)
		_, err = unimem.NewGrid(64, 4, o)
		require.ErrorIs(t, err, unimem.ErrOption)
		_, err = unimem.Start(-1, o)
		require.ErrorIs(t, err, unimem.ErrSize)
		_, err = unimem.Start(page, o, unimem.SurfacePerCell())
		require.ErrorIs(t, err, unimem.ErrOption)
	}
	tape, err := unimem.Start(0, unimem.InBlocks(page))
	require.NoError(t, err)
	_, err = tape.Take(int(unimem.MachineMemory())+1, 1)
	require.ErrorIs(t, err, unimem.ErrCreate)
	require.NoError(t, tape.Close())
}

// TestNewLayoutOn: conversations share the weights, whose Tape outlives them.
func TestNewLayoutOn(t *testing.T) {
	overMemories(t, func(t *testing.T, memory unimem.Option) {
		live := unimem.Live()
		weights, err := unimem.Start(page, memory, unimem.InBlocks(page))
		require.NoError(t, err)
		var all []*unimem.Layout
		for range 2 {
			l, err := unimem.NewLayoutOn(weights, 0, 2*page, memory, unimem.SurfacePerSpan())
			require.NoError(t, err)
			require.Same(t, weights, l.Weights())
			_, err = l.Scratch().Take(1, 1)
			require.NoError(t, err)
			_, err = l.History().Take(page, 1)
			require.NoError(t, err)
			require.Equal(t, []int{2 * page, page, page}, []int{l.History().Total(), l.History().Used(), l.History().Free()})
			l.ClearTalk()
			require.Zero(t, l.History().Used())
			all = append(all, l)
		}
		require.ErrorIs(t, weights.Close(), unimem.ErrInUse)
		_, err = unimem.NewLayoutOn(weights, -1, page)
		require.ErrorIs(t, err, unimem.ErrSize)
		for _, l := range all {
			require.NoError(t, l.Close())
			require.NoError(t, l.Close())
		}
		require.NoError(t, weights.Close())
		_, err = unimem.NewLayoutOn(weights, page, page)
		require.ErrorIs(t, err, unimem.ErrClosed)
		_, err = unimem.NewLayoutOn(nil, page, page)
		require.ErrorIs(t, err, unimem.ErrClosed)
		require.Equal(t, live, unimem.Live())
	})
}
