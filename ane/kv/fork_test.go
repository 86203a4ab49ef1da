package kv

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/unimem"
)

func forked(t testing.TB, c *Cache) *Cache {
	t.Helper()
	f, err := c.Fork()
	require.NoError(t, err)
	closeAtEnd(t, f)
	return f
}

func TestForkOfEveryForm(t *testing.T) {
	for name, form := range forms {
		t.Run(name, func(t *testing.T) {
			k := form(t, padded)
			add(t, k, 20)
			require.NoError(t, k.Append(0, token(k, 0, 0, 20), token(k, 0, 1, 20)))
			f := forked(t, k)
			require.Zero(t, f.pending[0], "what was not advanced stays with the parent")
			holds(t, f, 0, 20)
			require.NoError(t, f.Truncate(10))
			add(t, f, 3)
			holds(t, f, 0, 13)
			require.NoError(t, k.Append(1, token(k, 1, 0, 20), token(k, 1, 1, 20)))
			require.NoError(t, k.Advance(1))
			holds(t, k, 0, 21)
			one := block(f, 0, 0, 100, 101)
			require.NoError(t, f.Append(0, one, one))
			holds(t, k, 0, 21)
		})
	}
}

func TestForkSharesPagesUntilWritten(t *testing.T) {
	if !host.Fork {
		t.Skip("only Linux shares pages between Blocks of a process")
	}
	k := made(t, small)
	add(t, k, 20)
	own := unimem.Live().Bytes
	f := forked(t, k)
	require.True(t, f.borrowed)
	require.Equal(t, own, unimem.Live().Bytes)
	require.Zero(t, f.Copied())
	tensor := f.Keys(1)
	k.Keys(1).Bytes()[0]++
	require.Equal(t, k.Keys(1).Bytes()[0], tensor.Bytes()[0], "the same page")
	k.Keys(1).Bytes()[0]--

	add(t, k, 5) // after what the fork has
	require.True(t, f.borrowed)
	holds(t, f, 0, 20)
	require.Zero(t, k.Copied())

	add(t, f, 1)
	require.False(t, f.borrowed)
	require.EqualValues(t, 2*3*2*20*64, f.Copied())
	require.Nil(t, tensor.Bytes(), "tensors of the shared pages are stale")
	holds(t, f, 0, 21)
	holds(t, k, 0, 25)
}

func TestParentMovesBeforeItOverwritesAFork(t *testing.T) {
	if !host.Fork {
		t.Skip("only Linux shares pages between Blocks of a process")
	}
	k := made(t, small)
	add(t, k, 20)
	f := forked(t, k)
	g := forked(t, f)
	require.NoError(t, k.Truncate(10))
	was := k.Keys(0)
	require.NotNil(t, was.Bytes())
	odd := block(k, 0, 0, 90, 91)
	require.NoError(t, k.Append(0, odd, odd))
	require.Nil(t, was.Bytes())
	require.EqualValues(t, 2*3*2*10*64, k.Copied())
	holds(t, f, 0, 20)
	holds(t, g, 0, 20)
	require.NoError(t, f.Close())
	holds(t, g, 0, 20)
	add(t, g, 2)
	holds(t, g, 0, 22)
}

func TestForkOfAWindow(t *testing.T) {
	k := made(t, Config{Layers: 1, Heads: 2, HeadDim: 32, Window: 4})
	add(t, k, 6)
	f := forked(t, k)
	add(t, k, 1)
	holds(t, f, 2, 6)
	holds(t, k, 3, 7)
	add(t, f, 2)
	holds(t, f, 4, 8)
}

func TestForkOutlivesItsParent(t *testing.T) {
	k, err := New(padded)
	require.NoError(t, err)
	add(t, k, 7)
	f := forked(t, k)
	require.NoError(t, k.Close())
	holds(t, f, 0, 7)
	add(t, f, 1)
	holds(t, f, 0, 8)
}

func TestForksInOtherGoroutines(t *testing.T) {
	k := made(t, padded)
	add(t, k, 8)
	var all sync.WaitGroup
	for range 4 {
		f, err := k.Fork()
		require.NoError(t, err)
		all.Go(func() {
			g, err := f.Fork()
			if err == nil {
				for range 5 {
					p := f.Position()
					for layer := range 2 {
						_ = f.Append(layer, block(f, layer, 0, p, p+1), block(f, layer, 1, p, p+1))
					}
					_ = f.Advance(1)
				}
				if f.Len() != 13 || g.Len() != 8 {
					t.Error("lengths", f.Len(), g.Len())
				}
				err = g.Close()
			}
			if e := f.Close(); e != nil || err != nil {
				t.Error(e, err)
			}
		})
	}
	for range 20 {
		add(t, k, 1)
	}
	require.NoError(t, k.Truncate(4))
	add(t, k, 4)
	all.Wait()
	holds(t, k, 0, 8)
}

func TestForkOnHeapIsACountedCopy(t *testing.T) {
	k := made(t, small, unimem.OnHeap())
	add(t, k, 3)
	f := forked(t, k)
	require.False(t, f.borrowed)
	require.EqualValues(t, 2*3*2*3*64, f.Copied())
	before := k.Keys(0)
	add(t, k, 1)
	require.NotNil(t, before.Bytes())
	_, err := before.At(0, 0, 0, 0)
	require.NotErrorIs(t, err, ane.ErrStale)
}

// A detached fork has memory of its own, and its tensors stay where they are.
func TestDetach(t *testing.T) {
	for name, form := range forms {
		t.Run(name, func(t *testing.T) {
			k := form(t, padded)
			add(t, k, 20)
			f := forked(t, k)
			require.NoError(t, f.Detach())
			require.False(t, f.borrowed)
			keys := f.Keys(0)
			add(t, f, 5)
			add(t, k, 3)
			require.Same(t, keys, f.Keys(0))
			holds(t, f, 0, 25)
			holds(t, k, 0, 23)
			require.NoError(t, k.Detach())
			require.NoError(t, f.Close())
			require.ErrorIs(t, f.Detach(), ErrClosed)
		})
	}
}

// A fork of a cache on a Tape keeps its tokens when the Tape is cleared and its memory is used again.
func TestForkOutlivesTheSpansOfATape(t *testing.T) {
	for _, opts := range [][]unimem.Option{nil, {unimem.SurfacePerSpan()}} {
		tape, err := unimem.Start(1<<20, opts...)
		require.NoError(t, err)
		k, err := NewOn(tape, padded)
		require.NoError(t, err)
		add(t, k, 20)
		f := forked(t, k)
		require.NoError(t, k.Close())
		tape.Clear()
		other, err := NewOn(tape, padded)
		require.NoError(t, err)
		one := make([]byte, other.token)
		require.NoError(t, other.Append(0, one, one))
		holds(t, f, 0, 20)
		require.NoError(t, other.Close())
		require.NoError(t, f.Close())
		require.NoError(t, tape.Close())
	}
}
