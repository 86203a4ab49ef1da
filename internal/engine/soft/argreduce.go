package soft

import (
	"math"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/ops"
)

// indexOf prepares reduce_argmax and reduce_argmin: the index of the first of equal
// elements, and of the first NaN if there is one.
func indexOf(s *step) (runner, int) {
	l := newLanes(s.in[0].shape, s.attrs.(ops.Reduce).Axes)
	r := &indexer{lanes: l, rows: max(chunk/l.tile, 1), lowest: s.op == "reduce_argmin",
		ints: s.in[0].dtype == mil.Int32}
	return r, r.rows * l.tile
}

type indexer struct {
	lanes  lanes
	rows   int // elements of a lane read at a time
	lowest bool
	ints   bool // x is int32
}

func (r *indexer) run(c *call) { c.spread(r.lanes.groups, r.lanes.length*r.lanes.tile) }

func (r *indexer) span(c *call, lo, hi, worker int) {
	l := &r.lanes
	for g := lo; g < hi && !c.pause(worker); g++ {
		base, width, lane := l.group(g)
		var best [maxTile]float64
		var found [maxTile]int
		if r.ints {
			for t := range width {
				for j := range l.length {
					mem, _ := l.at(base+t, j)
					r.look(&best[t], &found[t], float64(c.in[0].ints[mem]), j)
				}
			}
		} else {
			l.visit(c, c.work[worker], base, width, r.rows, func(m []float32, from int) {
				for i, v := range m {
					r.look(&best[i%width], &found[i%width], float64(v), from+i/width)
				}
			})
		}
		for t := range width {
			if c.out[0].dtype == mil.UInt16 {
				c.out[0].pairs[lane+t] = uint16(found[t])
			} else {
				c.out[0].ints[lane+t] = int32(found[t])
			}
		}
	}
}

// look compares element j of a lane with the best before it.
func (r *indexer) look(best *float64, found *int, v float64, j int) {
	better := v > *best
	if r.lowest {
		better = v < *best
	}
	if j == 0 || !math.IsNaN(*best) && (better || math.IsNaN(v)) {
		*best, *found = v, j
	}
}
