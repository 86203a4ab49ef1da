package kernels

import (
	"math"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/soft/internal/halves"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/engine/soft/spatial"
	"github.com/anekit/anekit/internal/numerics"
	"github.com/anekit/anekit/internal/ops"
)

// Rows are the settings of a reduction whose operand is an input with gaps between its rows. The surface is operand 1.
// Operand 0 and result 1 are one place for its elements without gaps, as a copy.
type Rows struct {
	ops.Reduce
	ane.Layout
}

// TakesRows reports whether the kernel of an operator takes Rows.
func TakesRows(op string) bool { return op == "reduce_mean" || op == "reduce_sum" }

// reduce prepares the reductions to one value a lane, except reduce_log_sum_exp. It
// computes in float64 and rounds once; int32 wraps around.
func reduce(s *Step) (run.Runner, int) {
	on, gaps := s.Attrs.(Rows)
	if !gaps {
		on.Reduce = s.Attrs.(ops.Reduce)
	}
	l, f := newLanes(s.In[0].Shape, on.Axes), foldings[s.Op]
	other, room := f.reduce(s, l)
	if f.way == bySum && s.halved() && l.row == 1 && l.run == l.length && len(l.kept) <= 1 {
		in, even := spatial.Lanes{Count: l.groups(), Length: l.length, Width: l.length, Pitch: l.length}, true
		if gaps {
			dims, strides := rowsOf(on.Layout)
			rows, by := merge(dims[:4], strides[:4])
			in.Width, in.Pitch, even = on.Width, by[0][0], len(rows) == 1 && by[0][0] > on.Width
		}
		fold := spatial.Fold{Result: f.result, Divisor: map[string]float64{"reduce_sum": 1,
			"reduce_mean": float64(l.length)}[s.Op]}
		if r, work := spatial.Sums(in, fold, other, room); even && r != nil {
			return r, work
		}
	}
	if gaps {
		dims, strides := rowsOf(on.Layout)
		dense, _ := s.move(box{from: 1, to: 1, dims: dims, src: strides})
		return &run.Sequence{dense, other}, room
	}
	return other, room
}

// reduce is reduce without package spatial.
func (f folding) reduce(s *Step, l *lanes) (run.Runner, int) {
	d := s.Out[0].DType
	switch {
	case d == mil.Int32:
		return integerReducer(l, f), 0
	case (s.halved() || d == mil.FP32) && l.short():
		return shortReducer(l, f, d), 2 * run.Chunk
	case s.halved():
		if h := halfReducer(l, f); h != nil {
			return h, 0
		}
	}
	return reducer(l, f, d, s.chip() != 0), (l.part() + 1) * l.tile
}

// folding is one reduction.
type folding struct {
	way   way
	start float64                          // the value of no element
	last  func(acc float64, n int) float64 // makes the result of a lane of n elements, unless nil
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
	"reduce_sum":        {},
	"reduce_mean":       {last: func(acc float64, n int) float64 { return acc / float64(n) }},
	"reduce_log_sum":    {last: func(acc float64, _ int) float64 { return math.Log(acc) }},
	"reduce_l1_norm":    {way: byMagnitude},
	"reduce_l2_norm":    {way: bySquare, last: func(acc float64, _ int) float64 { return math.Sqrt(acc) }},
	"reduce_prod":       {way: byProduct, start: 1},
	"reduce_sum_square": {way: bySquare},
	"reduce_max":        {way: byMaximum, start: math.Inf(-1)},
	"reduce_min":        {way: byMinimum, start: math.Inf(1)},
}

// add folds rows of m, which it may change, into the values of its columns.
func (w way) add(acc *[maxTile]float64, m []float32, width int) {
	if width == 1 {
		acc[0] = w.addRun(acc[0], m)
		return
	}
	if w == byMagnitude {
		magnitudes(m)
	}
	addRows(w, acc[:], m, width)
}

// addRows is add for rows of either type.
func addRows[A float64 | int32, T float32 | int32](w way, acc []A, m []T, width int) {
	for ; len(m) > 0; m = m[width:] {
		row := m[:width]
		acc := acc[:len(row)]
		switch w {
		case bySum:
			for t, v := range row {
				acc[t] += A(v)
			}
		case byMagnitude:
			for t, v := range row {
				if v < 0 {
					v = -v
				}
				acc[t] += A(v)
			}
		case bySquare:
			for t, v := range row {
				acc[t] += A(v) * A(v)
			}
		case byProduct:
			for t, v := range row {
				acc[t] *= A(v)
			}
		case byMaximum:
			for t, v := range row {
				acc[t] = max(acc[t], A(v))
			}
		case byMinimum:
			for t, v := range row {
				acc[t] = min(acc[t], A(v))
			}
		}
	}
}

// addRun folds a run, which it may change, into one value, sums in four interleaved parts.
func (w way) addRun(acc float64, m []float32) float64 {
	switch w {
	case bySum:
		return acc + sum4(m)
	case byMagnitude:
		magnitudes(m)
		return acc + sum4(m)
	case bySquare:
		return acc + squares4(m)
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

func sum4(m []float32) float64 {
	var a, b, c, d float64
	for ; len(m) >= 4; m = m[4:] {
		a, b, c, d = a+float64(m[0]), b+float64(m[1]), c+float64(m[2]), d+float64(m[3])
	}
	for _, f := range m {
		a += float64(f)
	}
	return (a + b) + (c + d)
}

func squares4(m []float32) float64 {
	var a, b, c, d float64
	for ; len(m) >= 4; m = m[4:] {
		f, g, h, i := float64(m[0]), float64(m[1]), float64(m[2]), float64(m[3])
		a, b, c, d = a+f*f, b+g*g, c+h*h, d+i*i
	}
	for _, f := range m {
		a += float64(f) * float64(f)
	}
	return (a + b) + (c + d)
}

// result is what a lane of n elements gives.
func (f *folding) result(acc float64, n int) float64 {
	if f.last != nil {
		return f.last(acc, n)
	}
	return acc
}

// reducer folds the lanes of a group side by side. It takes runs of a chip's halves as numbers.
func reducer(l *lanes, f folding, d mil.DType, chip bool) run.Runner {
	return l.loop(1, func(c *run.Call, g, _, worker int) {
		out, m := c.Work[worker][:l.tile], c.Work[worker][l.tile:]
		base, width, lane := l.group(g)
		var acc [maxTile]float64
		for t := range width {
			acc[t] = f.start
		}
		if chip && l.row == 1 {
			l.runs(c, base, halfStretch, worker, func(at, _, n int) {
				acc[0] = foldNumbers(f.way, acc[0], c.In[0].Half[at:at+n])
			})
		} else {
			l.visit(c, m, base, width, func(rows []float32, _ int) { f.way.add(&acc, rows, width) })
		}
		for t := range width {
			out[t] = narrow(d, f.result(acc[t], l.length))
		}
		c.Out[0].Store(out[:width], lane)
	})
}

// shortMost is the length of lanes for which one call of package halves for each costs more than it saves.
const shortMost = 64

// short reports whether lanes are short and follow one another.
func (l *lanes) short() bool {
	return l.row == 1 && l.run == l.length && l.length <= shortMost && len(l.kept) <= 1
}

// shortReducer is reducer for such lanes: it decodes many at a time.
func shortReducer(l *lanes, f folding, d mil.DType) run.Runner {
	length := l.length
	return newEach(l.groups(), 2*length, run.Chunk/length, func(c *run.Call, lo, hi, worker int) {
		m, out := c.Work[worker][:(hi-lo)*length], c.Work[worker][run.Chunk:][:hi-lo]
		c.In[0].Load(m, lo*length)
		for i := range out {
			out[i] = narrow(d, f.result(f.way.addRun(f.start, m[i*length:][:length]), length))
		}
		c.Out[0].Store(out, lo)
	})
}

func integerReducer(l *lanes, f folding) run.Runner {
	return l.loop(1, func(c *run.Call, g, _, _ int) {
		base, width, lane := l.group(g)
		x, out := c.In[0].Ints, c.Out[0].Ints[lane:lane+width]
		for t := range out {
			out[t] = truncated(float32(f.start))
		}
		l.parts(base, width, 0, l.length, func(at, _, n int) { addRows(f.way, out, x[at:at+n], width) })
	})
}

// logSumExp prepares reduce_log_sum_exp: the maximum of a lane, plus the logarithm of
// the sum of the exponentials of the distances to it.
func logSumExp(s *Step) (run.Runner, int) {
	l := newLanes(s.In[0].Shape, s.Attrs.(ops.Reduce).Axes)
	if s.halved() && l.row == 1 && l.run == l.length {
		return l.inRuns(8, oneByOne(exponentialsOfHalves)), halfStretch + 16
	}
	r := s.chip()
	return l.loop(8, func(c *run.Call, g, _, worker int) { exponentials(c, l, g, c.Work[worker], r) }),
		(l.part() + 1) * l.tile
}

// exponentials computes the lanes of a group. A chip subtracts no maximum.
func exponentials(c *run.Call, l *lanes, g int, work []float32, r numerics.Rules) {
	exp, log, chip := r.ExpSum()
	out, m := work[:l.tile], work[l.tile:]
	base, width, lane := l.group(g)
	var top, sum [maxTile]float64
	for t := range width {
		top[t] = math.Inf(-1)
	}
	l.visit(c, m, base, width, func(rows []float32, _ int) { byMaximum.add(&top, rows, width) })
	for t := range width {
		if chip || math.IsInf(top[t], 0) {
			top[t] = 0 // infinities have no distance
		}
	}
	l.visit(c, m, base, width, func(rows []float32, _ int) {
		for ; len(rows) > 0; rows = rows[width:] {
			for t, v := range rows[:width] {
				sum[t] += exp(float64(v) - top[t])
			}
		}
	})
	for t := range width {
		out[t] = narrow(c.Out[0].DType, top[t]+log(sum[t]))
	}
	c.Out[0].Store(out[:width], lane)
}

// exponentialsOfHalves is exponentials for a lane of halves. If the greatest element is not finite, it is the result.
func exponentialsOfHalves(h halfLane) {
	top, finite := h.top()
	if finite {
		var sums halves.Sums
		work := h.c.Work[h.worker]
		h.runs(halfStretch, func(at, _, n int) { sums.Exp(work, h.x[at:at+n], top) })
		top += math.Log(sums.Total())
	}
	h.c.Out[0].Half[h.index] = fp16.FromFloat64(top)
}

// indexOf prepares reduce_argmax and reduce_argmin: the index of the first of equal elements, and of the first NaN if
// there is one.
func indexOf(s *Step) (run.Runner, int) {
	l, least := newLanes(s.In[0].Shape, s.Attrs.(ops.Reduce).Axes), s.Op == "reduce_argmin"
	return l.loop(1, func(c *run.Call, g, _, worker int) {
		base, width, lane := l.group(g)
		var found [maxTile]int
		if x := c.In[0].Ints; x != nil {
			var best [maxTile]int32
			l.parts(base, width, 0, l.length, func(at, to, n int) {
				look(best[:width], &found, x[at:at+n], to/width, least)
			})
		} else {
			var best [maxTile]float32
			l.visit(c, c.Work[worker], base, width, func(rows []float32, from int) {
				look(best[:width], &found, rows, from, least)
			})
		}
		for t, at := range found[:width] {
			setInteger(&c.Out[0], lane+t, at)
		}
	}), l.part() * l.tile
}

// look compares rows of elements, the first of which are elements j of their lanes, with the best before them.
func look[T float32 | int32](best []T, found *[maxTile]int, rows []T, j int, least bool) {
	for ; len(rows) > 0; j, rows = j+1, rows[len(best):] {
		for t, v := range rows[:len(best)] {
			before := best[t]
			better := v > before
			if least {
				better = v < before
			}
			if better || v != v && before == before || j == 0 {
				best[t], found[t] = v, j
			}
		}
	}
}
