package kernels

import (
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft/internal/halves"
	"github.com/anekit/anekit/internal/engine/soft/run"
)

// halfReducer reduces halves as reducer does. Along the last axis it has sixteen sums for each lane, so that sums
// which are not exact may differ from reducer's by 2^-53 of the sum of magnitudes for each addition.
type halfReducer struct {
	lanes   lanes
	folding folding
	sum     halves.Way
	extreme bool // the least or the greatest, not a sum
}

// sumsOf are the reductions that are sums in package halves.
var sumsOf = map[way]halves.Way{bySum: halves.Value, byMagnitude: halves.Magnitude, bySquare: halves.Square}

// fewLanes is the lanes side by side for which package halves has vectors. The sums of fewer are reducer's.
const fewLanes = 16

// newHalfReducer returns nil for a reduction that package halves does not have, and for lanes that are not runs or too
// few.
func newHalfReducer(l *lanes, f folding) run.Runner {
	sum, sums := sumsOf[f.way]
	r := &halfReducer{lanes: *l, folding: f, sum: sum, extreme: f.way == byMaximum || f.way == byMinimum}
	if !sums && !r.extreme || l.row == 1 && l.run == 1 || sums && l.row < fewLanes && l.dense(l.row) {
		return nil
	}
	if l.row > 1 {
		r.lanes.widen(run.Chunk)
	}
	return r
}

func (r *halfReducer) Run(c *run.Call) { c.Spread(r.lanes.groups, r.lanes.length*r.lanes.tile) }

func (r *halfReducer) Span(c *run.Call, lo, hi, worker int) {
	for g := lo; g < hi && !c.Pause(worker); g++ {
		base, width, lane := r.lanes.group(g)
		out := c.Out[0].Half[lane : lane+width]
		switch {
		case r.lanes.row == 1:
			out[0] = r.lane(c, base)
		case r.extreme:
			r.extremes(c, out, base)
		default:
			r.sums(c, out, base)
		}
	}
}

// result is what a lane of a sum gives.
func (r *halfReducer) result(sum float64) fp16.Bits {
	return fp16.FromFloat64(r.folding.result(sum, r.lanes.length))
}

// lane reduces one lane of runs.
func (r *halfReducer) lane(c *run.Call, base int) fp16.Bits {
	var sums halves.Sums
	span := halves.NewSpan()
	for j := 0; j < r.lanes.length && !c.Stopped(); {
		mem, n := r.lanes.at(base, j)
		n = min(n, halfStretch)
		x := c.In[0].Half[mem : mem+n]
		if r.extreme {
			span.Add(x)
		} else {
			sums.Add(r.sum, x)
		}
		j += n
	}
	if !r.extreme {
		return r.result(sums.Total())
	}
	low, high := span.Ends()
	if r.folding.way == byMinimum {
		return low
	}
	return high
}

// rowsAtOnce is how many rows package halves takes in one call.
const rowsAtOnce = 32

// rows calls f with rows of elements of the lanes of a group, as many at a time as lie at one distance.
func (r *halfReducer) rows(c *run.Call, base int, f func(x []fp16.Bits, rows, stride int)) {
	l := &r.lanes
	last := len(l.folded) - 1
	if last < 0 {
		f(c.In[0].Half[base:], 1, 0)
		return
	}
	for j := 0; j < l.length && !c.Stopped(); {
		n := min(l.folded[last]-j%l.folded[last], rowsAtOnce)
		mem, _ := l.at(base, j)
		f(c.In[0].Half[mem:], n, l.foldBy[last])
		j += n
	}
}

// extremes reduces lanes that lie side by side, all at once.
func (r *halfReducer) extremes(c *run.Call, out []fp16.Bits, base int) {
	spans := halves.NewSpans(r.folding.way == byMinimum)
	r.rows(c, base, func(x []fp16.Bits, rows, stride int) { spans.Add(len(out), x, rows, stride) })
	spans.Result(out)
}

// sums is extremes for sums.
func (r *halfReducer) sums(c *run.Call, out []fp16.Bits, base int) {
	var sums [run.Chunk]float64
	r.rows(c, base, func(x []fp16.Bits, rows, stride int) { halves.AddTo(r.sum, sums[:len(out)], x, rows, stride) })
	for i := range out {
		out[i] = r.result(sums[i])
	}
}
