package dma

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/unimem"
)

func TestSegmentsCoverABlock(t *testing.T) {
	d := Simulate()
	b, err := unimem.Open(3 * PageSize)
	require.NoError(t, err)
	s, err := d.Segments(b)
	require.NoError(t, err)
	require.Equal(t, []Segment{{addressStart, 3 * PageSize}}, s)
	again, err := d.Segments(b)
	require.NoError(t, err)
	require.Equal(t, s, again)
	require.ErrorIs(t, b.Close(), unimem.ErrInUse)
	require.NoError(t, d.Release(b))
	require.ErrorIs(t, d.Release(b), ErrNotMapped)
	require.NoError(t, b.Close())
	require.NoError(t, d.Close())
	_, err = d.Segments(b)
	require.ErrorIs(t, err, ErrClosed)
}
