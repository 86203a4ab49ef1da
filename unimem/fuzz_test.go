package unimem_test

import (
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/unimem"
)

// Every Take returns an aligned span of the Tape after the previous one, or an error that
// changes nothing.
func FuzzTapeTake(f *testing.F) {
	f.Add(1, 1, 100, 64)
	f.Add(-1, 0, 1<<62, 1<<62)
	f.Add(page, page, 1, 3)
	f.Add(math.MaxInt, 1, 0, 1)
	f.Fuzz(func(t *testing.T, size1, align1, size2, align2 int) {
		tape := start(t, page, unimem.OnHeap())
		for _, ask := range [][2]int{{size1, align1}, {size2, align2}, {size1, align2}, {size2, align1}} {
			before := tape.Used()
			s, err := tape.Take(ask[0], ask[1])
			if err != nil {
				known := errors.Is(err, unimem.ErrTapeFull) || errors.Is(err, unimem.ErrSize) ||
					errors.Is(err, unimem.ErrInvalidAlignment)
				require.True(t, known, "%v", err)
				require.Equal(t, before, tape.Used())
				continue
			}
			_, at, err := tape.Place(s)
			if ask[0] == 0 && tape.Free() == 0 {
				require.ErrorIs(t, err, unimem.ErrForeignSpan, "an empty span at the end")
				continue
			}
			require.NoError(t, err)
			require.GreaterOrEqual(t, at, before)
			require.Less(t, at-before, ask[1])
			require.Equal(t, at+ask[0], tape.Used())
			require.LessOrEqual(t, tape.Used(), tape.Total())
			require.Zero(t, addressOf(s)%uintptr(ask[1]))
			require.Len(t, s, ask[0])
		}
	})
}
