package unimem_test

import (
	"math"
	"math/bits"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/unimem"
)

type pair struct {
	A float32
	B [2]uint16
}

type nested struct {
	P [3]pair
	S string
}

func viewRefused[T any](t *testing.T) {
	t.Helper()
	for range 2 { // the second answer may come from the cache
		_, err := unimem.View[T](make([]byte, 1024))
		require.ErrorIs(t, err, unimem.ErrPointerType)
		tape := start(t, page)
		_, err = unimem.TakeOne[T](tape)
		require.Equal(t, unimem.ErrPointerType, err)
		_, err = unimem.TakeSlice[T](tape, 1)
		require.Equal(t, unimem.ErrPointerType, err)
		require.Zero(t, tape.Used())
	}
}

func TestPointerTypes(t *testing.T) {
	viewRefused[string](t)
	viewRefused[[]byte](t)
	viewRefused[map[int]int](t)
	viewRefused[*int](t)
	viewRefused[any](t)
	viewRefused[error](t)
	viewRefused[chan int](t)
	viewRefused[func()](t)
	viewRefused[rawPointer](t)
	viewRefused[nested](t)
	viewRefused[[2]struct{ m map[int]int }](t)
	viewRefused[[0]*int](t)
	viewRefused[struct{ _ [0]func() }](t)
}

func viewAccepted[T any](t *testing.T, size int) {
	t.Helper()
	tape := start(t, page)
	raw, err := tape.Take(4*size, 64)
	require.NoError(t, err)
	for range 2 {
		v, err := unimem.View[T](raw)
		require.NoError(t, err)
		require.Len(t, v, 4)
		require.Equal(t, 4, cap(v))
		require.Equal(t, addressOf(raw), addressOfValue(&v[0]))
	}
	one, err := unimem.TakeOne[T](tape)
	require.NoError(t, err)
	require.NotNil(t, one)
	some, err := unimem.TakeSlice[T](tape, 3)
	require.NoError(t, err)
	require.Len(t, some, 3)
	require.Equal(t, 3, cap(some))
}

func TestPlainTypes(t *testing.T) {
	viewAccepted[bool](t, 1)
	viewAccepted[int8](t, 1)
	viewAccepted[uint16](t, 2)
	viewAccepted[float32](t, 4)
	viewAccepted[uint64](t, 8)
	viewAccepted[complex128](t, 16)
	viewAccepted[number](t, bits.UintSize/8)
	viewAccepted[pair](t, 8)
	viewAccepted[[3]pair](t, 24)
}

func TestViewRefusals(t *testing.T) {
	raw := make([]byte, 64)
	raw = raw[-addressOf(raw)%16:]
	_, err := unimem.View[uint32](raw[:6])
	require.ErrorIs(t, err, unimem.ErrSize)
	require.ErrorContains(t, err, "view as uint32 of 6 bytes")
	_, err = unimem.View[uint32](raw[1:5])
	require.ErrorIs(t, err, unimem.ErrInvalidAlignment)
	_, err = unimem.View[pair](raw[2:10])
	require.ErrorIs(t, err, unimem.ErrInvalidAlignment)
	_, err = unimem.View[struct{}](raw)
	require.ErrorIs(t, err, unimem.ErrSize)
	_, err = unimem.View[[0]uint64](nil)
	require.ErrorIs(t, err, unimem.ErrSize)

	for _, empty := range [][]byte{nil, {}, raw[1:1]} {
		v, err := unimem.View[uint64](empty)
		require.NoError(t, err)
		require.Empty(t, v)
	}
	v, err := unimem.View[byte](raw[:3:10])
	require.NoError(t, err)
	require.Equal(t, 3, cap(v), "a view cannot be grown into its neighbor")
}

func TestTakeTyped(t *testing.T) {
	tape := start(t, page)
	_, err := tape.Take(1, 1)
	require.NoError(t, err)
	p, err := unimem.TakeOne[uint64](tape)
	require.NoError(t, err)
	require.Zero(t, addressOfValue(p)%8)
	require.Equal(t, 16, tape.Used())
	*p = math.MaxUint64
	require.EqualValues(t, 255, tape.Block().Bytes()[8])

	for _, n := range []int{-1, math.MinInt, math.MaxInt, math.MaxInt/8 + 1} {
		_, err = unimem.TakeSlice[uint64](tape, n)
		require.Equal(t, unimem.ErrSize, err, "%d", n)
	}
	_, err = unimem.TakeSlice[uint64](tape, math.MaxInt/8)
	require.ErrorIs(t, err, unimem.ErrTapeFull)
	require.ErrorIs(t, err, unimem.ErrSize, "the size overflows")
	none, err := unimem.TakeSlice[uint64](tape, 0)
	require.NoError(t, err)
	require.NotNil(t, none)
	require.Empty(t, none)
	require.Equal(t, 16, tape.Used())

	many, err := unimem.TakeSlice[struct{}](tape, math.MaxInt)
	require.NoError(t, err, "an empty slice always fits")
	require.Len(t, many, math.MaxInt)
	_, err = unimem.TakeSlice[[page + 1]byte](tape, 1)
	require.Equal(t, unimem.ErrTapeFull, err)
}
