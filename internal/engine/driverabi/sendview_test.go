package driverabi

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// sameFields: the view of b says what s, which was decoded from it or encoded to it, says.
func sameFields(t *testing.T, s *SendRequest, b []byte) {
	t.Helper()
	v, err := ViewSendRequest(b)
	require.NoError(t, err)
	require.Equal(t, []uint64{s.Token, uint64(s.Sequence), uint64(s.Priority), uint64(s.QoS), uint64(s.Category)},
		[]uint64{v.Token(), uint64(v.Sequence()), uint64(v.Priority()), uint64(v.QoS()), uint64(v.Category())})
	require.Equal(t, s.Surfaces(nil), v.Surfaces(nil))
}

func TestViewIsDecode(t *testing.T) {
	b := noise(SendRequestSize)
	var s SendRequest
	require.NoError(t, s.Decode(b))
	sameFields(t, &s, b)
	require.Len(t, s.Surfaces(nil), MaxSurfaces, "noise has no 0")
	copy(b[0x20+4*5:], []byte{0, 0, 0, 0})
	require.NoError(t, s.Decode(b))
	sameFields(t, &s, b)
	require.Len(t, s.Surfaces(nil), 5)
}

func TestViewBounds(t *testing.T) {
	for _, n := range []int{0, 1, 0x20, SendRequestSize - 1, SendRequestSize + 1, 2 * SendRequestSize} {
		_, err := ViewSendRequest(make([]byte, n))
		require.ErrorIs(t, err, ErrSize, "%d bytes", n)
	}
	_, err := ViewSendRequest(nil)
	require.ErrorIs(t, err, ErrSize)
	b := make([]byte, SendRequestSize)
	for i := range b {
		b[i] = 0xff
	}
	v, err := ViewSendRequest(b)
	require.NoError(t, err)
	for _, c := range []struct {
		at       int
		has, big bool
	}{{0, true, true}, {2368, true, true}, {2369, true, false}, {2372, true, false}, {2373, false, false}, {2376, false,
		false},
		{-1, false, false}, {math.MaxInt, false, false}, {math.MinInt, false, false}} {
		require.Equal(t, c.has, v.Uint32(c.at) == math.MaxUint32, "at %d", c.at)
		require.Equal(t, c.big, v.Uint64(c.at) == math.MaxUint64, "at %d", c.at)
	}
}
