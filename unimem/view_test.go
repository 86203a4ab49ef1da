package unimem_test

import (
	"math"
	"math/bits"
	"runtime"
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

func viewRefused[T any](t *testing.T) { viewRefusedFor[T](t, unimem.ErrPointerType) }

func viewRefusedFor[T any](t *testing.T, want error) {
	t.Helper()
	for range 2 { // the second answer comes from the cache
		_, err := unimem.View[T](make([]byte, 1024))
		require.ErrorIs(t, err, want)
		_, err = unimem.View[T](nil)
		require.ErrorIs(t, err, want, "empty views too")
		tape := start(t, page)
		_, err = unimem.TakeOne[T](tape)
		require.Equal(t, want, err)
		_, err = unimem.TakeSlice[T](tape, 1)
		require.Equal(t, want, err)
		require.Zero(t, tape.Used())
	}
}

type flag bool

// A byte of memory that is neither 0 nor 1 would be a bool that indexes out of bounds.
func TestBoolTypes(t *testing.T) {
	viewRefusedFor[bool](t, unimem.ErrBoolType)
	viewRefusedFor[flag](t, unimem.ErrBoolType)
	viewRefusedFor[[4]bool](t, unimem.ErrBoolType)
	viewRefusedFor[struct {
		A uint32
		B [2]struct{ C flag }
	}](t, unimem.ErrBoolType)
	viewRefusedFor[struct{ _ bool }](t, unimem.ErrBoolType)
	_, err := unimem.View[bool](make([]byte, 1))
	require.ErrorContains(t, err, "view as bool of 1 bytes: type contains bool: use uint8")
	var e *unimem.Error
	require.ErrorAs(t, err, &e)
	require.NotEmpty(t, e.Hint)
}

// measured returns the bytes that f allocates.
func measured(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// The check of a type costs no memory of the type's size, not even the first one.
func TestTypeCheckAllocatesNoValue(t *testing.T) {
	const huge = 64 << 20
	type first struct{ _ [huge]byte }
	type second struct{ _ [huge / 4]uint32 }
	type third struct{ _ [huge / 8]float64 }
	type text struct {
		_ [huge]byte
		_ string
	}
	tape := start(t, page)
	for name, f := range map[string]func() error{
		"view":       func() error { _, err := unimem.View[first](nil); return err },
		"take one":   func() error { _, err := unimem.TakeOne[second](tape); return err },
		"take slice": func() error { _, err := unimem.TakeSlice[third](tape, 1); return err },
		"ragged":     func() error { _, err := unimem.View[first](make([]byte, 3)); return err },
		"refused":    func() error { _, err := unimem.View[text](make([]byte, 3)); return err },
	} {
		for range 2 {
			require.Less(t, measured(func() { _ = f() }), uint64(1<<20), name)
		}
	}
}

// More types than the cache has slots: each answer stays right.
func TestManyTypes(t *testing.T) {
	tape := start(t, page)
	for range 3 {
		viewAccepted[[1]uint8](t, 1)
		viewAccepted[[2]uint8](t, 2)
		viewAccepted[[3]int16](t, 6)
		viewAccepted[[4]int32](t, 16)
		viewAccepted[struct{ A, B uint64 }](t, 16)
		viewRefusedFor[[5]bool](t, unimem.ErrBoolType)
		viewRefused[[5]string](t)
	}
	require.Zero(t, testing.AllocsPerRun(100, func() { _, _ = unimem.TakeOne[[7]bool](tape) }))
	require.Zero(t, testing.AllocsPerRun(100, func() { _, _ = unimem.TakeOne[[7]string](tape) }))
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
	viewAccepted[uint8](t, 1)
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
