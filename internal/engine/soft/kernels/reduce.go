package kernels

import (
	"math"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
)

// reduce prepares the reductions to one value a lane, except reduce_log_sum_exp. It
// computes in float64 and rounds once; int32 wraps around.
func reduce(s *Step) (run.Runner, int) {
	l := newLanes(s.In[0].Shape, s.Attrs.(ops.Reduce).Axes)
	f := foldings[s.Op]
	r := &reducer{lanes: l, dtype: s.Out[0].DType, folding: f, rows: max(run.Chunk/l.tile, 1)}
	if r.dtype == mil.Int32 {
		return &intReducer{lanes: l, folding: f}, 0
	}
	if s.halved() || r.dtype == mil.FP32 {
		if short, work := newShortReducer(r); short != nil {
			return short, work
		}
	}
	if s.halved() {
		if h := newHalfReducer(l, f); h != nil {
			return h, 0
		}
	}
	return r, (r.rows + 1) * l.tile
}

// folding is one reduction.
type folding struct {
	way      way
	start    float64                          // the value of no element
	last     func(acc float64, n int) float64 // makes the result of a lane of n elements, unless nil
	intStart int32
	ints     func(acc, v int32) int32
}

// way is how add folds an element into a value.
type way int

const (
	bySum way = iota
	byMagnitude
	bySquare
	byProduct
	byMaximum
	byMinimum
)

// foldings holds the reductions by name. It never changes.
var foldings = map[string]folding{
	"reduce_sum":        {ints: func(acc, v int32) int32 { return acc + v }},
	"reduce_mean":       {last: func(acc float64, n int) float64 { return acc / float64(n) }},
	"reduce_log_sum":    {last: func(acc float64, _ int) float64 { return math.Log(acc) }},
	"reduce_l1_norm":    {way: byMagnitude, ints: func(acc, v int32) int32 { return acc + max(v, -v) }},
	"reduce_l2_norm":    {way: bySquare, last: func(acc float64, _ int) float64 { return math.Sqrt(acc) }},
	"reduce_prod":       {way: byProduct, start: 1, intStart: 1, ints: func(acc, v int32) int32 { return acc * v }},
	"reduce_sum_square": {way: bySquare, ints: func(acc, v int32) int32 { return acc + v*v }},
	"reduce_max": {way: byMaximum, start: math.Inf(-1), intStart: math.MinInt32,
		ints: func(acc, v int32) int32 { return max(acc, v) }},
	"reduce_min": {way: byMinimum, start: math.Inf(1), intStart: math.MaxInt32,
		ints: func(acc, v int32) int32 { return min(acc, v) }},
}

// add folds rows of m into the values of its columns.
func (w way) add(acc *[maxTile]float64, m []float32, width int) {
	if width == 1 {
		acc[0] = w.addRun(acc[0], m)
		return
	}
	for ; len(m) > 0; m = m[width:] {
		row := m[:width]
		switch w {
		case bySum:
			for t, v := range row {
				acc[t] += float64(v)
			}
		case byMagnitude:
			for t, v := range row {
				acc[t] += math.Abs(float64(v))
			}
		case bySquare:
			for t, v := range row {
				acc[t] += float64(v) * float64(v)
			}
		case byProduct:
			for t, v := range row {
				acc[t] *= float64(v)
			}
		case byMaximum:
			for t, v := range row {
				acc[t] = max(acc[t], float64(v))
			}
		case byMinimum:
			for t, v := range row {
				acc[t] = min(acc[t], float64(v))
			}
		}
	}
}

// addRun folds a run into one value, sums in four parts.
func (w way) addRun(acc float64, m []float32) float64 {
	switch w {
	case bySum:
		return acc + sum4(m)
	case byMagnitude:
		return acc + magnitudes4(m)
	case bySquare:
		var a, b, c, d float64
		for ; len(m) >= 4; m = m[4:] {
			f, g, h, i := float64(m[0]), float64(m[1]), float64(m[2]), float64(m[3])
			a, b, c, d = a+f*f, b+g*g, c+h*h, d+i*i
		}
		for _, f := range m {
			a += float64(f) * float64(f)
		}
		return acc + ((a + b) + (c + d))
	case byProduct:
		for _, f := range m {
			acc *= float64(f)
		}
	case byMaximum:
		for _, f := range m {
			acc = max(acc, float64(f))
		}
	case byMinimum:
		for _, f := range m {
			acc = min(acc, float64(f))
		}
	}
	return acc
}

type reducer struct {
	lanes   lanes
	dtype   mil.DType
	folding folding
	rows    int // elements of a lane read at a time
}

func (r *reducer) Run(c *run.Call) { c.Spread(r.lanes.groups, r.lanes.length*r.lanes.tile) }

func (r *reducer) Span(c *run.Call, lo, hi, worker int) {
	l := &r.lanes
	out, m := c.Work[worker][:l.tile], c.Work[worker][l.tile:]
	for g := lo; g < hi && !c.Pause(worker); g++ {
		base, width, lane := l.group(g)
		var acc [maxTile]float64
		for t := range width {
			acc[t] = r.folding.start
		}
		l.visit(c, m, base, width, r.rows, func(rows []float32, _ int) { r.folding.way.add(&acc, rows, width) })
		for t := range width {
			if r.folding.last != nil {
				acc[t] = r.folding.last(acc[t], l.length)
			}
			out[t] = narrow(r.dtype, acc[t])
		}
		c.Out[0].Store(out[:width], lane)
	}
}

// visit decodes the lanes of a group into m, up to rows elements of each at a time, and
// calls f with those and the index of the first.
func (l *lanes) visit(c *run.Call, m []float32, base, width, rows int, f func(m []float32, from int)) {
	for from := 0; from < l.length && !c.Stopped(); from += rows {
		to := min(from+rows, l.length)
		l.load(&c.In[0], m, base, width, from, to)
		f(m[:(to-from)*width], from)
	}
}

// intReducer reduces int32.
type intReducer struct {
	lanes   lanes
	folding folding
}

func (r *intReducer) Run(c *run.Call) { c.Spread(r.lanes.groups, r.lanes.length*r.lanes.tile) }

func (r *intReducer) Span(c *run.Call, lo, hi, worker int) {
	l, x := &r.lanes, c.In[0].Ints
	for g := lo; g < hi && !c.Pause(worker); g++ {
		base, width, lane := l.group(g)
		out := c.Out[0].Ints[lane : lane+width]
		for t := range out {
			out[t] = r.folding.intStart
		}
		for j := 0; j < l.length; {
			mem, n := l.at(base, j)
			if l.row > 1 {
				for t, v := range x[mem : mem+width] {
					out[t] = r.folding.ints(out[t], v)
				}
				j++
				continue
			}
			acc := out[0]
			for _, v := range x[mem : mem+n] {
				acc = r.folding.ints(acc, v)
			}
			out[0] = acc
			j += n
		}
	}
}
