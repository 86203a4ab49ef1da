package unimem_test

import (
	"errors"
	"math"
	"runtime/debug"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/unimem"
)

// Memory of the heap beyond the limit of the runtime is an error that frees idle memory first.
func TestHeapBeyondLimitOfRuntime(t *testing.T) {
	debug.FreeOSMemory()
	old := debug.SetMemoryLimit(256 << 20)
	defer debug.SetMemoryLimit(old)
	live := unimem.Live()
	b, err := unimem.Open(512<<20, unimem.OnHeap())
	require.Nil(t, b)
	require.ErrorIs(t, err, unimem.ErrCreate)
	require.ErrorIs(t, err, unimem.ErrExhausted)
	require.ErrorContains(t, err, "GOMEMLIMIT")
	require.ErrorContains(t, err, "open in this process")
	_, err = unimem.Start(512<<20, unimem.OnHeap())
	require.ErrorIs(t, err, unimem.ErrExhausted)
	require.Equal(t, live, unimem.Live())

	asked := 0
	cancel := unimem.OnExhausted(func() int {
		asked++
		debug.SetMemoryLimit(math.MaxInt64)
		return 1
	})
	defer cancel()
	b, err = unimem.Open(512<<20, unimem.OnHeap())
	require.NoError(t, err, "the holders made room")
	require.NoError(t, b.Close())
	require.Equal(t, 1, asked)
}

// Garbage counts as used until it is collected: memory that is closed makes room again.
func TestHeapWithinLimitOfRuntime(t *testing.T) {
	debug.FreeOSMemory()
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(256 << 20))
	for range 4 {
		b, err := unimem.Open(150<<20, unimem.OnHeap())
		require.NoError(t, err)
		require.NoError(t, b.Close())
	}
}

// Blocks that are opened together do not pass the limit together.
func TestHeapOpenedTogether(t *testing.T) {
	debug.FreeOSMemory()
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(256 << 20))
	for range 8 {
		var opening sync.WaitGroup
		blocks := make([]*unimem.Block, 8)
		start := make(chan struct{})
		for i := range blocks {
			opening.Go(func() {
				<-start
				b, err := unimem.Open(100<<20, unimem.OnHeap())
				if err != nil && !errors.Is(err, unimem.ErrExhausted) {
					t.Error(err)
				}
				blocks[i] = b
			})
		}
		close(start)
		opening.Wait()
		open := 0
		for _, b := range blocks {
			if b != nil {
				open++
				require.NoError(t, b.Close())
			}
		}
		require.LessOrEqual(t, open, 2)
		require.NotZero(t, open)
	}
}
