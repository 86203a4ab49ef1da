package soft

import (
	"math"

	"github.com/anekit/anekit/ane/mil"
)

// softmax subtracts the maximum of each lane, exponentiates and divides by the
// sum. Only the exponentials are held in float32, with an error of three parts
// in 2^24. The result is rounded once.
func softmax(s *step) (runner, int) {
	l := newLanes(s.in[0].shape, []int{s.attrs.(int)})
	return &softmaxer{lanes: l, dtype: s.out[0].dtype}, l.length * l.tile
}

type softmaxer struct {
	lanes lanes
	dtype mil.DType
}

func (r *softmaxer) run(c *call) { c.spread(r.lanes.groups, 8*r.lanes.length*r.lanes.tile) }

func (r *softmaxer) span(c *call, lo, hi, worker int) {
	l := &r.lanes
	for g := lo; g < hi && !c.stopped(); g++ {
		base, width, _ := l.group(g)
		m := c.work[worker][:l.length*width]
		l.load(&c.in[0], m, base, width, 0, l.length)
		var top [maxTile]float32
		var sum [maxTile]float64
		copy(top[:], m[:width])
		for row := m; len(row) > 0; row = row[width:] {
			for t, v := range row[:width] {
				top[t] = max(top[t], v)
			}
		}
		for row := m; len(row) > 0; row = row[width:] {
			for t, v := range row[:width] {
				e := math.Exp(float64(v) - float64(top[t]))
				row[t] = float32(e)
				sum[t] += e
			}
		}
		for row := m; len(row) > 0; row = row[width:] {
			for t, v := range row[:width] {
				row[t] = narrow(r.dtype, float64(v)/sum[t])
			}
		}
		l.store(&c.out[0], m, base, width, 0, l.length)
	}
}
