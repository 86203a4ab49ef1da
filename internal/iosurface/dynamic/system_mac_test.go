//go:build darwin || macrules

package dynamic_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/blockoption"
	"github.com/anekit/anekit/internal/blocktest"
	"github.com/anekit/anekit/internal/iosurface/dynamic"
	"github.com/anekit/anekit/unimem"
)

// On a Mac: go test ./internal/iosurface/dynamic

func TestBlocksOfTheSystem(t *testing.T) {
	table, err := dynamic.System()
	require.NoError(t, err)
	blocktest.Run(t, func(size int, opts ...unimem.Option) (*unimem.Block, error) {
		return unimem.Open(size, append(opts, blockoption.On(table))...)
	})
}

func TestAdoptOfTheSystem(t *testing.T) {
	b, err := unimem.Open(unimem.PageSize)
	require.NoError(t, err)
	b.Bytes()[1] = 42
	a, err := unimem.AdoptSurface(b.ID(), b.Size())
	require.NoError(t, err)
	require.EqualValues(t, 42, a.Bytes()[1])
	require.NoError(t, a.Close())
	_, err = unimem.AdoptSurface(b.ID(), 1<<40)
	require.ErrorIs(t, err, unimem.ErrSize)
	b.Bytes()[1] = 43
	require.NoError(t, b.Close())
}
