package slots

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestListUsesItsThingsAgain(t *testing.T) {
	for _, limit := range []int{0, 2} {
		l := New[int](limit)
		made := 0
		create := func(place int) *int { made++; return &place }
		one, two := l.Take(create), l.Take(create)
		require.Equal(t, []*int{one, two}, l.All())
		require.Same(t, two, l.At(1))
		require.Equal(t, []int{0, 1}, []int{*one, *two})
		if limit > 0 {
			require.Nil(t, l.Take(create), "all are in use")
		}
		l.Give(one)
		require.Same(t, one, l.Take(create))
		require.Equal(t, 2, made)
		if limit == 0 {
			require.Equal(t, 2, *l.Take(create), "without a limit there is always one more")
		}
	}
}

func TestListCostsNoMemory(t *testing.T) {
	l := New[int](3)
	create := func(place int) *int { return &place }
	l.Give(l.Take(create))
	require.Zero(t, testing.AllocsPerRun(100, func() { l.Give(l.Take(create)) }))
}
