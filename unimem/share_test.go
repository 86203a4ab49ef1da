package unimem_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/unimem"
)

func TestShareWithoutDescriptor(t *testing.T) {
	for kind, hint := range map[string]string{"heap": "without OnHeap", "surface": "AdoptSurface"} {
		b, err := unimem.Open(page, memories[kind](t))
		require.NoError(t, err)
		f, err := b.Share()
		require.ErrorIs(t, err, unimem.ErrShare)
		require.ErrorContains(t, err, hint)
		require.Nil(t, f)
		require.NoError(t, b.Close(), "Share does not retain the Block")
	}
}

func TestShareAfterClose(t *testing.T) {
	overMemories(t, func(t *testing.T, option unimem.Option) {
		b, err := unimem.Open(page, option)
		require.NoError(t, err)
		require.NoError(t, b.Close())
		for _, b := range []*unimem.Block{b, nil, {}} {
			_, err = b.Share()
			require.ErrorIs(t, err, unimem.ErrClosed)
		}
	})
}
