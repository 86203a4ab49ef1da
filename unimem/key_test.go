package unimem_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/unimem"
)

func TestKeyOfNothing(t *testing.T) {
	for _, b := range []*unimem.Block{nil, {}} {
		require.Zero(t, b.Key())
		require.NoError(t, b.Unpinned())
	}
}

// Cells carved out of one Block have its Key, cells with their own Blocks have their own.
func TestKeyIsComparable(t *testing.T) {
	overMemories(t, func(t *testing.T, memory unimem.Option) {
		seen := map[unimem.Key]int{}
		g := newGrid(t, 64, 3, memory, unimem.SurfacePerCell())
		carved := newGrid(t, 64, 3, memory)
		for range 3 {
			seen[take(t, g).Block().Key()]++
			seen[take(t, carved).Block().Key()]++
		}
		require.Len(t, seen, 4)
	})
}

func TestKeyAfterClose(t *testing.T) {
	overMemories(t, func(t *testing.T, memory unimem.Option) {
		b, err := unimem.Open(page, memory)
		require.NoError(t, err)
		require.NotZero(t, b.Key())
		require.Equal(t, b.Key(), b.Key())
		require.NoError(t, b.Close())
		require.Zero(t, b.Key(), "its descriptor may be that of another file")
	})
}
