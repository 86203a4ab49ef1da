package kernels

import (
	"math"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/soft/internal/halves"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
)

// logSumExp prepares reduce_log_sum_exp: the maximum of a lane, plus the logarithm of
// the sum of the exponentials of the distances to it.
func logSumExp(s *Step) (run.Runner, int) {
	l := newLanes(s.In[0].Shape, s.Attrs.(ops.Reduce).Axes)
	r := exponentials{lanes: l, dtype: s.Out[0].DType, rows: max(run.Chunk/l.tile, 1)}
	work := (r.rows + 1) * l.tile
	if s.halved() && l.row == 1 && l.run == l.length {
		return &halfExponentials{r}, max(work, halfStretch+16)
	}
	return &r, work
}

type exponentials struct {
	lanes lanes
	dtype mil.DType
	rows  int
}

func (r *exponentials) Run(c *run.Call) { c.Spread(r.lanes.groups, 8*r.lanes.length*r.lanes.tile) }

func (r *exponentials) Span(c *run.Call, lo, hi, worker int) {
	for g := lo; g < hi && !c.Pause(worker); g++ {
		r.group(c, c.Work[worker], g)
	}
}

// group computes the lanes of a group.
func (r *exponentials) group(c *run.Call, work []float32, g int) {
	l := &r.lanes
	out, m := work[:l.tile], work[l.tile:]
	base, width, lane := l.group(g)
	var top, sum [maxTile]float64
	for t := range width {
		top[t] = math.Inf(-1)
	}
	l.visit(c, m, base, width, r.rows, func(rows []float32, _ int) { byMaximum.add(&top, rows, width) })
	for t := range width {
		if math.IsInf(top[t], 0) {
			top[t] = 0 // infinities have no distance
		}
	}
	l.visit(c, m, base, width, r.rows, func(rows []float32, _ int) {
		for ; len(rows) > 0; rows = rows[width:] {
			for t, v := range rows[:width] {
				sum[t] += math.Exp(float64(v) - top[t])
			}
		}
	})
	for t := range width {
		out[t] = narrow(r.dtype, top[t]+math.Log(sum[t]))
	}
	c.Out[0].Store(out[:width], lane)
}

// halfExponentials is exponentials for lanes that are runs of halves.
type halfExponentials struct{ exponentials }

func (r *halfExponentials) Span(c *run.Call, lo, hi, worker int) {
	n, work := r.lanes.length, c.Work[worker]
	for g := lo; g < hi && !c.Pause(worker); g++ {
		base, _, lane := r.lanes.group(g)
		x, reach := c.In[0].Half[base:base+n], halves.NewSpan()
		pieces(c, n, worker, func(from, to int) { reach.Add(x[from:to]) })
		_, top := reach.Ends()
		if top.IsNaN() || top.IsInf() {
			r.group(c, work, g)
			continue
		}
		var sums halves.Sums
		most := float64(top.Float32())
		pieces(c, n, worker, func(from, to int) { sums.Exp(work, x[from:to], most) })
		work[0] = narrow(r.dtype, most+math.Log(sums.Total()))
		c.Out[0].Store(work[:1], lane)
	}
}
