//go:build linux && cgo

package dynamic_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/unimem"
)

// A surface has fields of limited width: a Block up to 4 GiB keeps within them, a larger one is
// refused by name before the library is asked. Pages appear when touched, so this is fast.
func TestBlocksOfSeveralGiB(t *testing.T) {
	s := gated(t)
	const refused = 1 << 32
	for _, size := range []int{1<<31 - page, 1 << 31, 1<<31 + page, refused - page} {
		b, err := unimem.Open(size, s.Option())
		if size == refused-page {
			mem := b.Bytes()
			mem[0], mem[size-1] = 1, 2
			m, err := unimem.Map(b)
			require.NoError(t, err)
			require.EqualValues(t, 2, m.Bytes()[size-1])
			require.NoError(t, m.Close())
		}
		require.NoError(t, err, size)
		require.Equal(t, size, b.Size())
		require.NoError(t, b.Close())
	}
	s.fail("IOSurfaceCreate", 1)
	for _, size := range []int{refused, refused - page + 1} {
		_, err := unimem.Open(size, s.Option())
		var e *unimem.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, refused, e.Size)
		require.ErrorIs(t, err, unimem.ErrCreate)
		require.ErrorIs(t, err, unimem.ErrSize)
		require.NotErrorIs(t, err, unimem.ErrExhausted)
		require.ErrorContains(t, err, "field of 32 bits")
		require.ErrorContains(t, err, "at most 4294950912 bytes")
	}
	_, err := unimem.Open(page, s.Option())
	require.ErrorIs(t, err, unimem.ErrExhausted, "the armed failure was not used up: no call of the library before")
	b, err := unimem.Open(refused)
	if host.Mac {
		require.ErrorIs(t, err, unimem.ErrSize)
		return
	}
	require.NoError(t, err, "a memfd has no such field")
	require.NoError(t, b.Close())
}
