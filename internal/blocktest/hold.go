package blocktest

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/unimem"
)

func retain(t *testing.T, open Open) {
	b := mustOpen(t, open, page)
	require.NoError(t, b.Retain())
	require.NoError(t, b.Retain())
	require.ErrorIs(t, b.Close(), unimem.ErrInUse)
	b.Release()
	require.ErrorIs(t, b.Close(), unimem.ErrInUse)
	require.NotNil(t, b.Bytes(), "a refused Close changes nothing")
	b.Bytes()[page-1] = 1
	b.Release()

	before := unimem.Live().Unbalanced
	b.Release()
	b.Release()
	require.Equal(t, before+2, unimem.Live().Unbalanced)
	require.NoError(t, b.Retain(), "an unbalanced Release does not affect a later Retain")
	require.ErrorIs(t, b.Close(), unimem.ErrInUse)
	b.Release()
	require.NoError(t, b.Close())
}

func afterClose(t *testing.T, open Open) {
	b := mustOpen(t, open, page)
	address, id := b.Address(), b.ID()
	require.NoError(t, b.Close())
	for range 3 {
		require.NoError(t, b.Close(), "Close may be repeated")
	}
	require.Nil(t, b.Bytes())
	require.Zero(t, b.Handle(), "the number of a closed handle may be reused")
	require.ErrorIs(t, b.Retain(), unimem.ErrClosed)
	b.Release()
	require.NoError(t, b.Close())
	require.Equal(t, page, b.Size())
	require.Equal(t, address, b.Address())
	require.Equal(t, id, b.ID())
	_, err := unimem.Map(b)
	require.ErrorIs(t, err, unimem.ErrClosed)
}

func mapping(t *testing.T, open Open) {
	b := mustOpen(t, open, 2*page)
	m, err := unimem.Map(b)
	require.NoError(t, err)
	require.Len(t, m.Bytes(), b.Size())
	switch b.Backing() {
	case "memfd", "shm":
		require.NotSame(t, &b.Bytes()[0], &m.Bytes()[0])
	case "heap":
		require.Same(t, &b.Bytes()[0], &m.Bytes()[0])
	} // the system decides whether a surface looked up in its own process has another address
	b.Bytes()[0], m.Bytes()[2*page-1] = 11, 22
	require.EqualValues(t, 11, m.Bytes()[0], "a byte of the Block in the Mapping")
	require.EqualValues(t, 22, b.Bytes()[2*page-1], "a byte of the Mapping in the Block")

	require.ErrorIs(t, b.Close(), unimem.ErrInUse, "a Mapping holds its Block")
	again, err := unimem.Map(b)
	require.NoError(t, err)
	require.Same(t, &m.Bytes()[0], &again.Bytes()[0], "Mappings of a Block share one mapping")
	require.NoError(t, again.Close())
	require.NoError(t, again.Close())
	require.EqualValues(t, 11, m.Bytes()[0], "which lasts as long as one of them")
	require.NoError(t, m.Close())
	require.NoError(t, m.Close())
	require.Nil(t, m.Bytes())
	require.EqualValues(t, 22, b.Bytes()[2*page-1])
	require.NoError(t, b.Close())
}

func many(t *testing.T, open Open) {
	var all []*unimem.Block
	for i := range 50 {
		b := mustOpen(t, open, page)
		b.Bytes()[0] = byte(i)
		all = append(all, b)
	}
	for i, b := range all {
		require.EqualValues(t, i, b.Bytes()[0])
		require.NoError(t, b.Close())
	}
}

// racingHolders closes while other goroutines retain: a holder always sees the Block open.
func racingHolders(t *testing.T, open Open) {
	const rounds, holders = 50, 3
	for range rounds {
		b := mustOpen(t, open, page)
		var wg sync.WaitGroup
		var lost atomic.Int64
		for range holders {
			wg.Go(func() {
				for b.Retain() == nil {
					if b.Bytes() == nil {
						lost.Add(1)
					}
					b.Release()
				}
			})
		}
		for b.Close() != nil {
			runtime.Gosched()
		}
		wg.Wait()
		require.Zero(t, lost.Load(), "closed while retained")
	}
}
