package unimem_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/measure"
	"github.com/anekit/anekit/internal/membench"
	"github.com/anekit/anekit/internal/step"
)

// BenchmarkCores runs the short operations beside their floors in pieces of 2,000 calls. Before and after each piece it
// times a loop of additions, which a busy sibling of the core makes 1.3 to 1.6 times as long: x-fast and x-slow are the
// medians of the pieces by that time. Run it with -cpu 1 and -benchtime 4000x; a speed without pieces has no figure.
func BenchmarkCores(b *testing.B) {
	for _, c := range membench.Cases() {
		if !slices.Contains([]string{"TapeTake", "TapeTryTake", "TapeTakeOne", "GridTakeGive", "GridTakeGiveTwo"}, c.Name) {
			continue
		}
		b.Run(c.Name, func(b *testing.B) {
			require.NoError(b, step.Run(b.Context(), func(t *step.T) {
				loops := [2]measure.Loop{c.Open(t), c.Floor(t)}
				var pieces [2][][2]float64 // time of the additions, time of the piece
				least := additions()
				for range b.N {
					for i, loop := range loops {
						before, start := additions(), time.Now()
						step.NoError(loop(2000))
						took, after := float64(time.Since(start)), additions()
						least = min(least, before, after)
						if max(before, after) < 1.1*min(before, after) {
							pieces[i] = append(pieces[i], [2]float64{(before + after) / 2, took})
						}
					}
				}
				b.ReportMetric(0, "ns/op")
				for name, between := range map[string][2]float64{"x-fast": {0, 1.08}, "x-slow": {1.3, 1.6}} {
					operation := median(pieces[0], between[0]*least, between[1]*least)
					floor := median(pieces[1], between[0]*least, between[1]*least)
					if operation > 0 && floor > 0 {
						b.ReportMetric(operation/floor, name)
					}
				}
			}))
		})
	}
}

// median is that of the pieces whose additions took from to to; 0 without any.
func median(pieces [][2]float64, from, to float64) float64 {
	var times []float64
	for _, p := range pieces {
		if p[0] >= from && p[0] < to {
			times = append(times, p[1])
		}
	}
	if len(times) == 0 {
		return 0
	}
	slices.Sort(times)
	return times[len(times)/2]
}

// additions times four chains of additions.
func additions() float64 {
	var w, x, y, z uint64 = 1, 2, 3, 4
	start := time.Now()
	for range 1500 {
		w += x ^ 1
		x += y ^ 3
		y += z ^ 5
		z += w ^ 7
		w ^= 9
		x ^= 11
		y ^= 13
	}
	took := float64(time.Since(start))
	if w+x+y+z == 0 { // the sums are used
		return 0
	}
	return took
}
