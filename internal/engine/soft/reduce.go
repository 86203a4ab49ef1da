package soft

import (
	"math"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/ops"
)

// reduce prepares reduce_sum, reduce_mean and reduce_max. Sums are float64.
func reduce(s *step) (runner, int) {
	l := newLanes(s.in[0].shape, s.attrs.(ops.Reduce).Axes)
	r := &reducer{lanes: l, dtype: s.out[0].dtype, scale: 1, rows: max(chunk/l.tile, 1)}
	switch s.op {
	case "reduce_max":
		r.highest = true
	case "reduce_mean":
		r.scale = float64(l.length)
	}
	if r.dtype == mil.Int32 {
		return &intReducer{lanes: l, highest: r.highest}, 0
	}
	return r, (r.rows + 1) * l.tile
}

type reducer struct {
	lanes   lanes
	dtype   mil.DType
	highest bool    // maximum instead of sum
	scale   float64 // the sum is divided by it
	rows    int     // elements of a lane read at a time
}

func (r *reducer) run(c *call) { c.spread(r.lanes.groups, r.lanes.length*r.lanes.tile) }

func (r *reducer) span(c *call, lo, hi, worker int) {
	l := &r.lanes
	out, m := c.work[worker][:l.tile], c.work[worker][l.tile:]
	for g := lo; g < hi && !c.stopped(); g++ {
		base, width, lane := l.group(g)
		var acc [maxTile]float64
		if r.highest {
			for t := range width {
				acc[t] = math.Inf(-1)
			}
		}
		for from := 0; from < l.length && !c.stopped(); from += r.rows {
			to := min(from+r.rows, l.length)
			l.load(&c.in[0], m, base, width, from, to)
			r.add(&acc, m[:(to-from)*width], width)
		}
		for t := range width {
			out[t] = narrow(r.dtype, acc[t]/r.scale)
		}
		c.out[0].store(out[:width], lane)
	}
}

// add adds rows of m to the sums or maxima of its columns.
func (r *reducer) add(acc *[maxTile]float64, m []float32, width int) {
	for ; len(m) > 0; m = m[width:] {
		for t, v := range m[:width] {
			if r.highest {
				acc[t] = max(acc[t], float64(v))
			} else {
				acc[t] += float64(v)
			}
		}
	}
}

// intReducer reduces int32. Sums wrap around.
type intReducer struct {
	lanes   lanes
	highest bool
}

func (r *intReducer) run(c *call) { c.spread(r.lanes.groups, r.lanes.length*r.lanes.tile) }

func (r *intReducer) span(c *call, lo, hi, _ int) {
	l := &r.lanes
	for g := lo; g < hi && !c.stopped(); g++ {
		base, width, lane := l.group(g)
		for t := range width {
			mem, _ := l.at(base+t, 0)
			acc := c.in[0].ints[mem]
			for j := 1; j < l.length; j++ {
				mem, _ = l.at(base+t, j)
				if v := c.in[0].ints[mem]; r.highest {
					acc = max(acc, v)
				} else {
					acc += v
				}
			}
			c.out[0].ints[lane+t] = acc
		}
	}
}
