package trial

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Every time is counted once, in the bin whose edges hold it.
func TestHistogram(t *testing.T) {
	require.Nil(t, Histogram(nil))
	require.Nil(t, Histogram([]time.Duration{5}))
	require.Equal(t, &Latency{[]int64{7, 8}, []int{3}}, Histogram([]time.Duration{7, 7, 7}))
	require.Equal(t, &Latency{[]int64{1, 2}, []int{2}}, Histogram([]time.Duration{0, 0}))
	var times []time.Duration
	for i := range 1000 {
		times = append(times, time.Duration(100+i*i))
	}
	h := Histogram(times)
	require.Len(t, h.Edges, len(h.Counts)+1)
	require.LessOrEqual(t, len(h.Counts), maxBins)
	require.Greater(t, len(h.Counts), 10)
	for i, n := range h.Counts {
		require.Less(t, h.Edges[i], h.Edges[i+1])
		want := 0
		for _, one := range times {
			if one.Nanoseconds() >= h.Edges[i] && (one.Nanoseconds() < h.Edges[i+1] || i == len(h.Counts)-1) {
				want++
			}
		}
		require.Equal(t, want, n)
	}
}
