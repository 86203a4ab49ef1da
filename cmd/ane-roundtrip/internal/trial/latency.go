package trial

import (
	"math"
	"time"
)

// Latency is a histogram of times: Counts[i] of them are at least Edges[i] and below Edges[i+1]; the last count
// includes the last edge.
type Latency struct {
	Edges  []int64 `json:"edges_ns"` // one more than counts, increasing
	Counts []int   `json:"counts"`
}

// maxBins is the most bins of a Latency.
const maxBins = 24

// Histogram returns the histogram of sorted times, with edges that grow by a factor; nil of fewer than two times.
func Histogram(sorted []time.Duration) *Latency {
	if len(sorted) < 2 {
		return nil
	}
	low, high := max(1, sorted[0].Nanoseconds()), sorted[len(sorted)-1].Nanoseconds()
	bins := min(maxBins, max(1, int(2*math.Sqrt(float64(len(sorted))))))
	h := &Latency{Edges: []int64{low}}
	for i := 1; i < bins; i++ {
		edge := int64(math.Round(float64(low) * math.Pow(float64(high)/float64(low), float64(i)/float64(bins))))
		if edge > h.Edges[len(h.Edges)-1] && edge < high {
			h.Edges = append(h.Edges, edge)
		}
	}
	h.Edges = append(h.Edges, max(high, h.Edges[len(h.Edges)-1]+1))
	h.Counts = make([]int, len(h.Edges)-1)
	at := 0
	for _, t := range sorted {
		for at < len(h.Counts)-1 && t.Nanoseconds() >= h.Edges[at+1] {
			at++
		}
		h.Counts[at]++
	}
	return h
}
