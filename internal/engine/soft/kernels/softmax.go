package kernels

import (
	"math"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft/internal/halves"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/numerics"
	"github.com/anekit/anekit/internal/ops"
)

// softmax subtracts the maximum of each lane, exponentiates and divides by the
// sum. Only the exponentials are held in float32, with an error of three parts
// in 2^24. The result is rounded once.
func softmax(s *Step) (run.Runner, int) {
	l := newLanes(s.In[0].Shape, []int{s.Attrs.(int)})
	if r := s.chip(); r.Has(numerics.Steps | numerics.Tables) {
		return s.steppedSoftmax(l, r), l.length * l.tile
	}
	if s.halved() && l.row == 1 && l.run == l.length {
		return halfSoftmaxer(l), (l.length + 15) / 16 * 16
	}
	if t := l.turned(); t != nil && s.halved() {
		return t.inRuns(8, func(c *run.Call, x []fp16.Bits, worker int) bool {
			return softmaxLane(c, x, x, c.Work[worker][t.room():], worker)
		}, func(c *run.Call, g int, work []float32) { softmaxGroup(c, t.lanes, work, g) }), t.room() + t.pitch*t.tile
	}
	return softmaxer(l), l.length * l.tile
}

func softmaxer(l *lanes) run.Runner {
	return l.loop(8, func(c *run.Call, g, worker int) { softmaxGroup(c, l, c.Work[worker], g) })
}

// softmaxGroup computes the lanes of a group.
func softmaxGroup(c *run.Call, l *lanes, m []float32, g int) {
	var top [maxTile]float32
	m, base, width := l.read(&c.In[0], m, &top, g)
	var sum [maxTile]float64
	for row := m; len(row) > 0; row = row[width:] {
		for t, v := range row[:width] {
			e := math.Exp(float64(v) - float64(top[t]))
			row[t] = float32(e)
			sum[t] += e
		}
	}
	for row := m; len(row) > 0; row = row[width:] {
		for t, v := range row[:width] {
			row[t] = narrow(c.Out[0].DType, float64(v)/sum[t])
		}
	}
	l.store(&c.Out[0], m, base, width, 0, l.length)
}

// halfSoftmaxer is softmaxer for lanes that are runs of halves.
func halfSoftmaxer(l *lanes) run.Runner {
	return l.loop(8, func(c *run.Call, g, worker int) {
		base, _, _ := l.group(g)
		end := base + l.length
		if !softmaxLane(c, c.In[0].Half[base:end], c.Out[0].Half[base:end], c.Work[worker], worker) {
			softmaxGroup(c, l, c.Work[worker], g)
		}
	})
}

// softmaxLane computes one lane. It reports false, and computes nothing, if the greatest element is not finite.
func softmaxLane(c *run.Call, x, out []fp16.Bits, work []float32, worker int) bool {
	reach, n := halves.NewSpan(), len(x)
	pieces(c, n, worker, func(from, to int) { reach.Add(x[from:to]) })
	_, top := reach.Ends()
	if top.IsNaN() || top.IsInf() {
		return false
	}
	var sums halves.Sums
	pieces(c, n, worker, func(from, to int) { sums.Exp(work[from:], x[from:to], float64(top.Float32())) })
	total := sums.Total()
	pieces(c, n, worker, func(from, to int) { halves.Divide(out[from:to], work[from:], total) })
	return true
}

// pieces calls f with pieces of [0, n) until the context ends.
func pieces(c *run.Call, n, worker int, f func(from, to int)) {
	for from := 0; from < n && !c.Pause(worker); from += halfStretch {
		f(from, min(from+halfStretch, n))
	}
}

// steppedSoftmax is softmax as a chip's sequence of operators (rule Steps; that the maximum is subtracted is known, the
// rest is inferred): x - max, exp, the sum, its inverse, and a multiplication, each rounded to fp16.
func (s *Step) steppedSoftmax(l *lanes, rules numerics.Rules) run.Runner {
	exp := s.expTable(s.Out[0].len())
	made := l.loop(8, func(c *run.Call, g, worker int) { steppedSoftmaxGroup(c, l, rules, exp, g, worker) })
	if exp != nil && l.runOf(rules) {
		made = l.loop(8, func(c *run.Call, g, _ int) { steppedSoftmaxRuns(c, l, rules, exp, g) })
	}
	made.table = exp
	return made
}

// expTable returns the table of a chip's exp, or nil for a step that has few elements.
func (s *Step) expTable(elements int) *table {
	if elements < tabled {
		return nil
	}
	r := s.Arith.Operand
	return s.Arith.Tables.of((&Step{Op: "exp", Attrs: ops.Unary{}, Arith: s.Arith}).key(), func(h fp16.Bits) fp16.Bits {
		y, _ := r.Unary("exp", h, 0)
		return y
	})
}

func steppedSoftmaxGroup(c *run.Call, l *lanes, rules numerics.Rules, exp *table, g, worker int) {
	var top [maxTile]float32
	m, base, width := l.read(&c.In[0], c.Work[worker], &top, g)
	var sum [maxTile]float64
	for row := m; len(row) > 0; row = row[width:] {
		for t, v := range row[:width] {
			h := rules.Round(float64(v) - float64(top[t]))
			if exp != nil {
				h = exp.values[h]
			} else {
				h, _ = rules.Unary("exp", h, 0)
			}
			row[t] = rules.Value(h)
			sum[t] += float64(row[t])
		}
	}
	for t := range width {
		y, _ := rules.Unary("inverse", rules.Round(sum[t]), 0)
		sum[t] = float64(rules.Value(y))
	}
	for row := m; len(row) > 0; row = row[width:] {
		for t, v := range row[:width] {
			row[t] = toOdd(float64(v) * sum[t])
		}
	}
	l.store(&c.Out[0], m, base, width, 0, l.length)
}

// steppedSoftmaxRuns computes a lane of runs.
func steppedSoftmaxRuns(c *run.Call, l *lanes, rules numerics.Rules, exp *table, g int) {
	base, _, _ := l.group(g)
	x, out := c.In[0].Half, c.Out[0].Half
	top, sum := math.Inf(-1), 0.0
	var one [1]fp16.Bits
	l.runs(c, base, halfStretch, func(at, _, n int) { top = foldNumbers(byMaximum, top, x[at:at+n]) })
	one[0] = bitsOf(float32(top))
	l.runs(c, base, run.Chunk, func(at, _, n int) {
		y := out[at : at+n]
		halves.Binary(halves.Sub, y, x[at:at+n], one[:], rules)
		halves.Lookup(y, y, exp.values)
		sum = foldNumbers(bySum, sum, y)
	})
	one[0], _ = rules.Unary("inverse", rules.Round(sum), 0)
	l.runs(c, base, halfStretch, func(at, _, n int) {
		halves.Binary(halves.Mul, out[at:at+n], out[at:at+n], one[:], rules)
	})
}
