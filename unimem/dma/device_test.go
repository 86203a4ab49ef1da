package dma

import (
	"os"
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

// A Device without a Driver is closed.
func TestDeviceWithoutDriver(t *testing.T) {
	b, err := unimem.Open(PageSize)
	require.NoError(t, err)
	for name, d := range map[string]*Device{"nil": nil, "zero": {}, "nil driver": New(nil)} {
		_, err = d.Segments(b)
		require.ErrorIs(t, err, ErrClosed, name)
		var e *Error
		require.ErrorAs(t, err, &e, name)
		require.ErrorIs(t, d.Release(b), ErrClosed, name)
		require.NoError(t, d.Close(), name)
	}
	require.NoError(t, b.Close())
}

func TestDiskOfADirectory(t *testing.T) {
	d := Simulate()
	for _, opts := range [][]Option{nil, {Writable()}} {
		_, err := OpenDisk(t.Context(), d, t.TempDir(), opts...)
		require.ErrorIs(t, err, ErrRefused)
		require.ErrorContains(t, err, "directory")
	}
	_, _, err := OpenFile(t.TempDir())
	var e *os.PathError
	require.ErrorAs(t, err, &e)
	require.Zero(t, d.reached())
	require.NoError(t, d.Close())
}
