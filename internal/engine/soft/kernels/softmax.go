package kernels

import (
	"math"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft/internal/halves"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/numerics"
	"github.com/anekit/anekit/internal/ops"
)

// softmax subtracts the maximum of each lane, exponentiates and divides by the sum. Only the exponentials are held in
// float32, with an error of three parts in 2^24. The result is rounded once.
func softmax(s *Step) (run.Runner, int) {
	l := newLanes(s.In[0].Shape, []int{s.Attrs.(int)})
	if rules := s.chip(); rules != 0 {
		l, exp := l.asRuns(true), s.expTable(s.Out[0].len())
		r := l.inRuns(8, oneByOne(func(h halfLane) { steppedSoftmax(h, rules, exp) }))
		r.table = exp
		return r, l.room()
	}
	if r := l.asRuns(false); r != nil && s.halved() {
		room, more := r.room(), halves.SoftmaxRoom(l.length, s.Out[0].len()/l.length)
		return r.inRuns(8, func(h halfLane, n, stride int) { softmaxRows(h, n, stride, room, more) }), room + more + (more+1)/2
	}
	return l.loop(8, func(c *run.Call, g, _, worker int) { softmaxGroup(c, l, g, c.Work[worker]) }), l.length * l.tile
}

// softmaxGroup computes the lanes of a group.
func softmaxGroup(c *run.Call, l *lanes, g int, m []float32) {
	base, width, _ := l.group(g)
	m = m[:l.length*width]
	l.load(&c.In[0], m, base, width, 0, l.length)
	var top [maxTile]float32
	copy(top[:], m[:width])
	for row := m; len(row) > 0; row = row[width:] {
		for t, v := range row[:width] {
			top[t] = max(top[t], v)
		}
	}
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

// softmaxRows computes n lanes of halves, each one run. Lanes take room of the workspace, the kernel more.
func softmaxRows(h halfLane, n, stride, room, more int) {
	work, copied := h.c.Work[h.worker][room:], h.c.Rooms[h.worker].Half[2*(room+more):]
	for done := 0; n > 0; n -= done {
		done = halves.Softmax(h.out[h.base:], h.x[h.base:], n, h.length, stride, work, copied)
		if h.base += done * stride; done < n {
			softmaxLane(h, work)
			h.base, done = h.base+stride, done+1
		}
	}
}

// softmaxLane computes a lane of halves, which is one run, in float64. work is room for as many elements.
func softmaxLane(h halfLane, work []float32) {
	top, finite := h.top()
	if !finite {
		fill(h.out[h.base:][:h.length], fp16.FromFloat64(top-top)) // NaN, as the sum of the exponentials
		return
	}
	var sums halves.Sums
	h.runs(halfStretch, func(at, j, n int) { sums.Exp(work[j:], h.x[at:at+n], top) })
	h.runs(halfStretch, func(at, j, n int) { halves.Divide(h.out[at:at+n], work[j:], sums.Total()) })
}

// top returns the greatest element of a lane, and whether it is finite.
func (h *halfLane) top() (top float64, finite bool) {
	reach := halves.NewSpan()
	h.runs(halfStretch, func(at, _, n int) { reach.Add(h.x[at : at+n]) })
	_, high := reach.Ends()
	return float64(high.Float32()), !high.IsNaN() && !high.IsInf()
}

// steppedSoftmax is softmax as a chip's sequence of operators (rule Steps): x - max, exp, the sum, its inverse, a
// multiplication. Each is rounded to fp16. The subtraction of the maximum is known, the rest is inferred.
func steppedSoftmax(h halfLane, rules numerics.Rules, exp *halves.Table) {
	top, sum := math.Inf(-1), 0.0
	var one [1]fp16.Bits
	h.runs(halfStretch, func(at, _, n int) { top = foldNumbers(byMaximum, top, h.x[at:at+n]) })
	b := math.Float32bits(float32(top) / 0x1p112) // an infinite half is a number here
	one[0] = fp16.Bits(b>>16&0x8000 | b>>13&0x7fff)
	h.runs(run.Chunk, func(at, _, n int) {
		y := h.out[at : at+n]
		halves.Binary(halves.Sub, y, h.x[at:at+n], one[:], rules)
		exp.Apply(y, y)
		sum = foldNumbers(bySum, sum, y)
	})
	one[0], _ = rules.Unary("inverse", rules.Round(sum), 0)
	h.runs(halfStretch, func(at, _, n int) {
		halves.Binary(halves.Mul, h.out[at:at+n], h.out[at:at+n], one[:], rules)
	})
}

// expTable returns the table of a chip's exp for a step that looks up some elements.
func (s *Step) expTable(elements int) *halves.Table {
	r := s.Arith.Operand
	key := (&Step{Op: "exp", Attrs: ops.Unary{}, Arith: s.Arith}).key()
	return s.Arith.Tables.Of(key, elements, func(h fp16.Bits) fp16.Bits {
		y, _ := r.Unary("exp", h, 0)
		return y
	}, nil)
}
