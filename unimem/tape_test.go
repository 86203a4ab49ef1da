package unimem_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/unimem"
)

const page = unimem.PageSize

func start(t *testing.T, size int, opts ...unimem.Option) *unimem.Tape {
	t.Helper()
	tape, err := unimem.Start(size, opts...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, tape.Close()) })
	return tape
}

func TestTapeTake(t *testing.T) {
	overMemories(t, func(t *testing.T, memory unimem.Option) {
		tape := start(t, page+1, memory)
		require.Equal(t, 2*page, tape.Total())
		at := 0
		for _, c := range []struct{ size, align, pad int }{
			{1, 1, 0}, {1, 1, 0}, {3, 2, 0}, {8, 8, 3}, {0, 1, 0}, {0, 64, 48}, {100, 64, 0}, {1, 1, 0},
			{64, 4096, 3931},
		} {
			s, err := tape.Take(c.size, c.align)
			require.NoError(t, err)
			require.NotNil(t, s)
			require.Len(t, s, c.size)
			require.Equal(t, c.size, cap(s))
			at += c.pad
			require.Equal(t, tape.Block().Address()+uintptr(at), addressOf(s))
			require.Zero(t, addressOf(s)%uintptr(c.align))
			_, offset, err := tape.Place(s)
			require.NoError(t, err)
			require.Equal(t, at, offset)
			require.True(t, tape.Owns(s))
			at += c.size
			require.Equal(t, at, tape.Used())
			require.Equal(t, tape.Total()-at, tape.Free())
		}
	})
}

func TestTapeFillsToTheLastByte(t *testing.T) {
	overMemories(t, func(t *testing.T, memory unimem.Option) {
		tape := start(t, page, memory)
		_, err := tape.Take(page+1, 1)
		require.Equal(t, unimem.ErrTapeFull, err)
		all, err := tape.Take(page, 1)
		require.NoError(t, err)
		all[0], all[page-1] = 1, 2
		_, err = tape.Take(1, 1)
		require.Equal(t, unimem.ErrTapeFull, err)
		require.Equal(t, page, tape.Used(), "a refused Take changes nothing")

		end, err := tape.Take(0, 1)
		require.NoError(t, err, "an empty span always fits")
		require.False(t, tape.Owns(end), "other memory may begin there")
		_, _, err = tape.Place(end)
		require.ErrorIs(t, err, unimem.ErrForeignSpan)

		tape.Clear()
		require.Zero(t, tape.Used())
		again, err := tape.Take(page, 1)
		require.NoError(t, err)
		require.EqualValues(t, 1, again[0], "clear does not zero")
		require.EqualValues(t, 2, again[page-1])
	})
}

func TestTakeOneFillsToTheLastByte(t *testing.T) {
	tape := start(t, page)
	require.Len(t, tape.TryTake(page-1, 1), page-1)
	_, err := unimem.TakeOne[uint8](tape)
	require.NoError(t, err)
	require.Zero(t, tape.Free())
	_, err = unimem.TakeOne[struct{}](tape)
	require.NoError(t, err, "an empty value always fits")
	for range 2 {
		_, err = unimem.TakeOne[uint8](tape)
		require.Equal(t, unimem.ErrTapeFull, err)
	}
	require.Equal(t, page, tape.Used())
}

func TestTapeAlignsTheAddress(t *testing.T) {
	overMemories(t, func(t *testing.T, memory unimem.Option) {
		tape := start(t, 1<<20, memory)
		for align := 1; align <= 1<<18; align *= 2 {
			s, err := tape.Take(3, align)
			require.NoError(t, err, "alignment %d", align)
			require.Zero(t, addressOf(s)%uintptr(align))
			tape.Clear()
			_, err = tape.Take(1, 1)
			require.NoError(t, err)
		}
	})
}

func TestTapeRefusals(t *testing.T) {
	tape := start(t, page)
	for _, c := range []struct {
		size, align int
		want        error
	}{
		{8, 0, unimem.ErrInvalidAlignment},
		{8, 3, unimem.ErrInvalidAlignment},
		{8, 24, unimem.ErrInvalidAlignment},
		{8, -1, unimem.ErrInvalidAlignment},
		{8, -8, unimem.ErrInvalidAlignment},
		{8, math.MinInt, unimem.ErrInvalidAlignment},
		{8, math.MaxInt, unimem.ErrInvalidAlignment},
		{0, 0, unimem.ErrInvalidAlignment},
		{-1, 8, unimem.ErrSize},
		{math.MinInt, 1, unimem.ErrSize},
		{1, math.MaxInt/2 + 1, unimem.ErrTapeFull},
		{page + 1, 1, unimem.ErrTapeFull},
	} {
		for _, used := range []int{0, 1, 63} {
			tape.Clear()
			_, err := tape.Take(used, 1)
			require.NoError(t, err)
			s, err := tape.Take(c.size, c.align)
			require.Equal(t, c.want, err, "take(%d, %d): the bare sentinel", c.size, c.align)
			require.Nil(t, s)
			require.Equal(t, used, tape.Used(), "a refused Take changes nothing")
		}
	}
}

func TestStartRefusals(t *testing.T) {
	for size, want := range map[int]error{0: unimem.ErrZeroSize, -1: unimem.ErrSize, math.MaxInt: unimem.ErrSize} {
		_, err := unimem.Start(size)
		require.ErrorIs(t, err, want)
	}
	_, err := unimem.Start(1, unimem.SurfacePerCell())
	require.ErrorIs(t, err, unimem.ErrOption)
}

func TestTapeOwns(t *testing.T) {
	a, b := start(t, page), start(t, page)
	s, err := a.Take(100, 1)
	require.NoError(t, err)
	whole := a.Block().Bytes()
	for name, c := range map[string]struct {
		b    []byte
		want bool
	}{
		"span":          {s, true},
		"part":          {s[3:10], true},
		"end of span":   {s[100:], true},
		"whole":         {whole, true},
		"free part":     {whole[page-1:], true},
		"nil":           {nil, false},
		"heap":          {make([]byte, 10), false},
		"empty heap":    {make([]byte, 0, 10), false},
		"other tape":    {b.Block().Bytes(), false},
		"part of other": {b.Block().Bytes()[1:2], false},
	} {
		require.Equal(t, c.want, a.Owns(c.b), name)
	}
	_, _, err = a.Place(make([]byte, 1))
	require.ErrorIs(t, err, unimem.ErrForeignSpan)
	_, offset, err := a.Place(whole[77:78])
	require.NoError(t, err)
	require.Equal(t, 77, offset)
}

func TestTapeClose(t *testing.T) {
	overMemories(t, func(t *testing.T, memory unimem.Option) {
		tape, err := unimem.Start(page, memory)
		require.NoError(t, err)
		s, err := tape.Take(10, 1)
		require.NoError(t, err)
		block := tape.Block()
		require.ErrorIs(t, block.Close(), unimem.ErrInUse, "the Tape owns its Block")
		block.Release()
		require.ErrorIs(t, block.Close(), unimem.ErrInUse, "an unbalanced Release does not close it")
		require.NoError(t, block.Retain())
		require.ErrorIs(t, tape.Close(), unimem.ErrInUse)
		_, err = tape.Take(1, 1)
		require.NoError(t, err, "a refused Close changes nothing")
		block.Release()

		require.NoError(t, tape.Close())
		require.NoError(t, tape.Close())
		require.NoError(t, block.Close())
		require.Nil(t, block.Bytes())
		for _, size := range []int{-1, 0, 1, page, math.MaxInt} {
			_, err = tape.Take(size, 1)
			require.Equal(t, unimem.ErrClosed, err)
		}
		_, err = unimem.TakeOne[int32](tape)
		require.Equal(t, unimem.ErrClosed, err)
		_, err = unimem.TakeSlice[int32](tape, 1)
		require.Equal(t, unimem.ErrClosed, err)
		tape.Clear()
		_, err = tape.Take(0, 1)
		require.Equal(t, unimem.ErrClosed, err, "Clear does not reopen")
		require.False(t, tape.Owns(s))
		_, _, err = tape.Place(s)
		require.ErrorIs(t, err, unimem.ErrClosed)
		require.Equal(t, page, tape.Total())
		require.Equal(t, 0, tape.Free())
	})
}

func TestZeroTape(t *testing.T) {
	for _, tape := range []*unimem.Tape{nil, {}} {
		_, err := tape.Take(1, 1)
		require.Equal(t, unimem.ErrClosed, err)
		_, err = unimem.TakeOne[byte](tape)
		require.Equal(t, unimem.ErrClosed, err)
		require.False(t, tape.Owns([]byte{1}))
		require.Zero(t, tape.Total())
		require.Zero(t, tape.Free())
		require.NoError(t, tape.Close())
	}
}

func TestTapeAllocatesNothing(t *testing.T) {
	tape := start(t, page)
	full := start(t, page)
	_, err := full.Take(page, 1)
	require.NoError(t, err)
	for name, f := range map[string]func(){
		"take":       func() { _, _ = tape.Take(16, 16) },
		"take one":   func() { _, _ = unimem.TakeOne[pair](tape) },
		"take slice": func() { _, _ = unimem.TakeSlice[pair](tape, 2) },
		"clear":      func() { tape.Clear() },
		"full":       func() { _, _ = full.Take(1, 1) },
		"refused":    func() { _, _ = tape.Take(1, 3) },
		"pointers":   func() { _, _ = unimem.TakeOne[string](tape) },
	} {
		require.Zero(t, testing.AllocsPerRun(100, f), name)
	}
}

// A size that no Tape can hold matches both ErrTapeFull and ErrSize.
func TestTakeOverflow(t *testing.T) {
	tape := start(t, page)
	for _, size := range []int{math.MaxInt, math.MaxInt - 1, math.MaxInt - page + 1} {
		for _, align := range []int{1, 64, math.MaxInt/2 + 1} {
			_, err := tape.Take(size, align)
			require.ErrorIs(t, err, unimem.ErrTapeFull)
			require.ErrorIs(t, err, unimem.ErrSize)
		}
	}
	require.Zero(t, tape.Used())
	require.Zero(t, testing.AllocsPerRun(100, func() { _, _ = tape.Take(math.MaxInt, 64) }),
		"the error is not allocated")
}

// TryTake takes what Take takes, and is nil where Take returns an error.
func TestTryTake(t *testing.T) {
	numbers := []int{0, 1, 2, 3, 8, 24, 64, 4096, page - 1, page, page + 1, 3 * page, 4 * page, math.MaxInt/2 + 1,
		math.MaxInt, math.MinInt, math.MinInt / 2, -1, -8}
	tape := start(t, 3*page)
	for _, used := range []int{0, 1, 63, page, 3*page - 1, 3 * page} {
		for _, size := range numbers {
			for _, align := range numbers {
				tape.Clear()
				require.Len(t, tape.TryTake(used, 1), used)
				got, after := tape.TryTake(size, align), tape.Used()
				tape.Clear()
				require.Len(t, tape.TryTake(used, 1), used)
				want, err := tape.Take(size, align)
				require.Equal(t, err == nil, got != nil, "used %d, take(%d, %d)", used, size, align)
				require.Equal(t, addressOf(want), addressOf(got))
				require.Equal(t, []int{len(want), cap(want), tape.Used()}, []int{len(got), cap(got), after})
			}
		}
	}
	require.NoError(t, tape.Close())
	blocks := start(t, 0, unimem.InBlocks(page))
	for _, none := range []*unimem.Tape{nil, {}, tape, blocks} {
		for _, size := range numbers {
			require.Nil(t, none.TryTake(size, 1))
		}
	}
}

// The zero Tape has no spans, not even empty ones.
func TestZeroTapeHasNoSpans(t *testing.T) {
	var tape unimem.Tape
	_, err := tape.Take(0, 1)
	require.Equal(t, unimem.ErrClosed, err)
	_, err = unimem.TakeSlice[int](&tape, 0)
	require.Equal(t, unimem.ErrClosed, err)
	for _, m := range []*unimem.Mapping{nil, {}} {
		require.Nil(t, m.Bytes())
		require.NoError(t, m.Close())
	}
}
