//go:build darwin || macrules

package surfaces_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/blocktest"
	"github.com/anekit/anekit/unimem/surfaces"
)

// On a Mac: go test ./unimem/surfaces

func TestBlocksOfTheSystem(t *testing.T) {
	l, err := surfaces.System()
	require.NoError(t, err)
	blocktest.Run(t, func(size int, opts ...unimem.Option) (*unimem.Block, error) {
		return unimem.Open(size, append(opts, l.Option())...)
	})
}

func TestAdoptOfTheSystem(t *testing.T) {
	l, err := surfaces.System()
	require.NoError(t, err)
	b, err := unimem.Open(unimem.PageSize)
	require.NoError(t, err)
	b.Bytes()[1] = 42
	a, err := l.Adopt(b.ID(), b.Size())
	require.NoError(t, err)
	require.EqualValues(t, 42, a.Bytes()[1])
	require.NoError(t, a.Close())
	_, err = l.Adopt(b.ID(), 1<<40)
	require.ErrorIs(t, err, unimem.ErrSize)
	b.Bytes()[1] = 43
	require.NoError(t, b.Close())
}
