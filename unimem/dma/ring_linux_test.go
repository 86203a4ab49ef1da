//go:build !macrules

package dma

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/ringtest"
)

func TestRingsWhereTheSystemRefuses(t *testing.T) { ringtest.Refuse(t, "TestRingFallsBack") }

// A caller whose system refuses io_uring gets the reason, and reads with ReadAt; where only the registration is refused
// the Ring reads without.
func TestRingFallsBack(t *testing.T) {
	if !ringtest.Refused() {
		t.Skip("needs a system that refuses io_uring: TestRingsWhereTheSystemRefuses runs it")
	}
	data := pattern(2 * PageSize)
	b := newBlock(t, 2*PageSize)
	file, _, err := OpenFile(write(t, data))
	require.NoError(t, err)
	defer file.Close()
	r, err := OpenRing(b)
	if err == nil {
		defer func() { require.NoError(t, r.Close()) }()
		fmt.Println(r.why)
		var n int
		if n, err = r.Read(within(t), file, 0, b, 0, b.Size()); err == nil {
			require.Equal(t, b.Size(), n)
		}
	}
	if err != nil {
		fmt.Println(err)
		require.ErrorIs(t, err, ErrUnavailable)
		require.NotErrorIs(t, err, ErrTransfer)
		_, err = file.ReadAt(b.Bytes(), 0)
		require.NoError(t, err)
	}
	require.True(t, bytes.Equal(data, b.Bytes()))
}
