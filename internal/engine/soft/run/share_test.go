package run

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// Goroutines that take from both ends get every item once.
func TestShare(t *testing.T) {
	const from, to = 5, 20_005
	var s share
	s.set(from, to)
	var taken [to]atomic.Int32
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for item, ok := s.take(i%2 == 1); ok; item, ok = s.take(i%2 == 1) {
				taken[item].Add(1)
			}
		})
	}
	all.Wait()
	for i := range taken {
		want := int32(1)
		if i < from {
			want = 0
		}
		require.Equal(t, want, taken[i].Load(), "item %d", i)
	}
}

// A goroutine takes its own items in order, then the last ones of others.
func TestTake(t *testing.T) {
	c := Call{dealt: 2}
	c.shares[0].set(0, 2)
	c.shares[1].set(2, 5)
	for _, want := range []int{0, 1, 4, 3, 2} {
		item, ok := c.Take(0)
		require.True(t, ok)
		require.Equal(t, want, item)
	}
	for worker := range 2 {
		_, ok := c.Take(worker)
		require.False(t, ok)
	}
}
