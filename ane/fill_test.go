package ane_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
)

func TestFillFromReadsRowsInPlace(t *testing.T) {
	for _, shape := range shapes {
		for _, d := range storable {
			l := newLayout(t, "x", d, shape...)
			x := onBlock(t, l)
			packed := make([]byte, l.PackedBytes())
			for i := range packed {
				packed[i] = byte(i*5 + 3)
			}
			from := bytes.NewReader(append(slices.Clone(packed), 1, 2, 3))
			n, err := x.FillFrom(iotest.OneByteReader(from))
			require.NoError(t, err)
			require.Equal(t, len(packed), n)
			require.Equal(t, 3, from.Len(), "it reads no further byte")
			var rows []byte
			for row := range x.Rows() {
				rows = append(rows, row...)
			}
			require.Equal(t, packed, rows)
		}
	}
}

func TestFillFromShortReader(t *testing.T) {
	x := fp16On(t, 2, 3)
	n, err := x.FillFrom(bytes.NewReader(make([]byte, 7)))
	require.Equal(t, 7, n)
	require.ErrorIs(t, err, ane.ErrLength)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.ErrorContains(t, err, "7 of 12 bytes")
	_, err = x.FillFrom(bytes.NewReader(nil))
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	broken := errors.New("broken")
	_, err = x.FillFrom(iotest.ErrReader(broken))
	require.ErrorIs(t, err, broken)
	require.NoError(t, x.Block().Close())
	_, err = x.FillFrom(bytes.NewReader(nil))
	require.ErrorIs(t, err, ane.ErrStale)
}

func TestRowsEndWithTheLoopAndWithTheMemory(t *testing.T) {
	x := fp16On(t, 5, 3)
	seen := 0
	for row := range x.Rows() {
		require.Len(t, row, 6)
		require.Equal(t, 6, cap(row))
		if seen++; seen == 2 {
			break
		}
	}
	require.Equal(t, 2, seen)
	for range x.Rows() {
		if seen++; seen == 4 {
			require.NoError(t, x.Block().Close())
		}
	}
	require.Equal(t, 4, seen)
}
