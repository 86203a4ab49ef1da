package kernels

import (
	"math"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
)

// indexOf prepares reduce_argmax and reduce_argmin: the index of the first of equal
// elements, and of the first NaN if there is one.
func indexOf(s *Step) (run.Runner, int) {
	l := newLanes(s.In[0].Shape, s.Attrs.(ops.Reduce).Axes)
	r := &indexer{lanes: l, rows: max(run.Chunk/l.tile, 1), lowest: s.Op == "reduce_argmin",
		ints: s.In[0].DType == mil.Int32}
	return r, r.rows * l.tile
}

type indexer struct {
	lanes  lanes
	rows   int // elements of a lane read at a time
	lowest bool
	ints   bool // x is int32
}

func (r *indexer) Run(c *run.Call) { c.Spread(r.lanes.groups, r.lanes.length*r.lanes.tile) }

func (r *indexer) Span(c *run.Call, lo, hi, worker int) {
	l := &r.lanes
	for g := lo; g < hi && !c.Pause(worker); g++ {
		base, width, lane := l.group(g)
		var best [maxTile]float64
		var found [maxTile]int
		if r.ints {
			for t := range width {
				for j := range l.length {
					mem, _ := l.at(base+t, j)
					r.look(&best[t], &found[t], float64(c.In[0].Ints[mem]), j)
				}
			}
		} else {
			l.visit(c, c.Work[worker], base, width, r.rows, func(m []float32, from int) {
				for i, v := range m {
					r.look(&best[i%width], &found[i%width], float64(v), from+i/width)
				}
			})
		}
		for t := range width {
			if c.Out[0].DType == mil.UInt16 {
				c.Out[0].Pairs[lane+t] = uint16(found[t])
			} else {
				c.Out[0].Ints[lane+t] = int32(found[t])
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
