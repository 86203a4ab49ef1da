package kernels

import (
	"math"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft/internal/halves"
	"github.com/anekit/anekit/internal/engine/soft/internal/numbers"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/numerics"
)

// These runners compute the lanes of runs of halves of stepped, steppedNorm and reducer with package numbers, step by
// step over a whole lane. Their results are those of the runners over several lanes.

// runOf reports whether the lanes are runs, and the rules those of package numbers.
func (l *lanes) runOf(r numerics.Rules) bool {
	return l.run > 1 && r.Has(numerics.Exponent31)
}

// sum4 adds in four interleaved parts, as the functions below do.
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

func magnitudes4(m []float32) float64 {
	var a, b, c, d float64
	abs := func(f float32) float64 { return math.Abs(float64(f)) }
	for ; len(m) >= 4; m = m[4:] {
		a, b, c, d = a+abs(m[0]), b+abs(m[1]), c+abs(m[2]), d+abs(m[3])
	}
	for _, f := range m {
		a += abs(f)
	}
	return (a + b) + (c + d)
}

// squares4 adds squares, each of which is exact in float32: 22 bits.
func squares4(m []float32) float64 {
	var a, b, c, d float64
	for ; len(m) >= 4; m = m[4:] {
		a, b, c, d = a+float64(m[0]*m[0]), b+float64(m[1]*m[1]), c+float64(m[2]*m[2]), d+float64(m[3]*m[3])
	}
	for _, f := range m {
		a += float64(f * f)
	}
	return (a + b) + (c + d)
}

// greatest4 is the greatest of numbers, none of which is NaN.
func greatest4(m []float32) float32 {
	a, b, c, d := m[0], m[0], m[0], m[0]
	for ; len(m) >= 4; m = m[4:] {
		if m[0] > a {
			a = m[0]
		}
		if m[1] > b {
			b = m[1]
		}
		if m[2] > c {
			c = m[2]
		}
		if m[3] > d {
			d = m[3]
		}
	}
	for _, f := range m {
		a = max(a, f)
	}
	return max(a, b, c, d)
}

// foldNumbers adds the numbers of x, or takes the least or the greatest, to acc. It calls no function value, so that
// its room stays on the stack.
func foldNumbers(w way, acc float64, x []fp16.Bits) float64 {
	var room [run.Chunk]float32
	for len(x) > 0 {
		m := room[:min(run.Chunk, len(x))]
		numbers.Decode(m, x[:len(m)])
		x = x[len(m):]
		switch w {
		case bySum:
			acc += sum4(m)
		case byMagnitude:
			acc += magnitudes4(m)
		case bySquare:
			acc += squares4(m)
		case byMaximum:
			acc = max(acc, float64(greatest4(m)))
		case byMinimum:
			for i := range m {
				m[i] = -m[i]
			}
			acc = min(acc, -float64(greatest4(m)))
		}
	}
	return acc
}

// steppedRun is stepped for runs.
type steppedRun struct{ *stepped }

func (r steppedRun) Run(c *run.Call) {
	r.exp.make(r.raise)
	c.Spread(r.lanes.groups, 8*r.lanes.length)
}

func (r steppedRun) Span(c *run.Call, lo, hi, worker int) {
	l, rules, away := &r.lanes, r.rules, r.rules.Has(numerics.HalfAway)
	x, out := c.In[0].Half, c.Out[0].Half
	var one [1]fp16.Bits
	for g := lo; g < hi && !c.Pause(worker); g++ {
		base, _, _ := l.group(g)
		top, sum := math.Inf(-1), 0.0
		l.runs(c, base, halfStretch, func(at, _, n int) { top = foldNumbers(byMaximum, top, x[at:at+n]) })
		one[0] = bitsOf(float32(top))
		l.runs(c, base, run.Chunk, func(at, _, n int) {
			y := out[at : at+n]
			numbers.Binary(numbers.Sub, y, x[at:at+n], one[:], away)
			halves.Lookup(y, y, r.exp.values)
			sum = foldNumbers(bySum, sum, y)
		})
		one[0], _ = rules.Unary("inverse", rules.Round(sum), 0)
		l.runs(c, base, halfStretch, func(at, _, n int) {
			numbers.Binary(numbers.Mul, out[at:at+n], out[at:at+n], one[:], away)
		})
	}
}

// bitsOf returns the half of a number, of an infinite one too.
func bitsOf(f float32) fp16.Bits {
	b := math.Float32bits(f / 0x1p112)
	return fp16.Bits(b>>16&0x8000 | b>>13&0x7fff)
}

// steppedNormRun is steppedNorm for runs.
type steppedNormRun struct{ *steppedNorm }

func (r steppedNormRun) Span(c *run.Call, lo, hi, worker int) {
	l, rules, away, length := &r.lanes, r.rules, r.rules.Has(numerics.HalfAway), float64(r.lanes.length)
	x, out, gamma, beta := c.In[0].Half, c.Out[0].Half, c.In[1].Half, c.In[2].Half
	var one [1]fp16.Bits
	// param is what belongs to elements j to j+n of a lane, or to all of them.
	param := func(v []fp16.Bits, lane, j, n int) []fp16.Bits {
		if r.channels {
			return v[lane%r.params:][:1]
		}
		return v[j : j+n]
	}
	for g := lo; g < hi && !c.Pause(worker); g++ {
		base, _, lane := l.group(g)
		sum, squares := 0.0, 0.0
		l.runs(c, base, halfStretch, func(at, _, n int) { sum = foldNumbers(bySum, sum, x[at:at+n]) })
		one[0] = rules.Round(sum / length)
		l.runs(c, base, run.Chunk, func(at, _, n int) {
			numbers.Binary(numbers.Sub, out[at:at+n], x[at:at+n], one[:], away)
			squares = foldNumbers(bySquare, squares, out[at:at+n])
		})
		one[0], _ = rules.Unary("rsqrt", rules.Round(squares/length), r.epsilon)
		l.runs(c, base, run.Chunk, func(at, j, n int) {
			y := out[at : at+n]
			numbers.Binary(numbers.Mul, y, y, one[:], away)
			if gamma != nil {
				numbers.Binary(numbers.Mul, y, y, param(gamma, lane, j, n), away)
			}
			if beta != nil {
				numbers.Binary(numbers.Add, y, y, param(beta, lane, j, n), away)
			}
		})
	}
}

func (r steppedNormRun) Run(c *run.Call) { c.Spread(r.lanes.groups, 4*r.lanes.length) }

// steppedNormTurned is steppedNorm for lanes side by side, each of which it turns into a run. Unlike steppedNormRun it
// adds the elements of a lane in their order, as steppedNorm does.
type steppedNormTurned struct {
	*steppedNorm
	turned *turnedLanes
}

func (*steppedNormTurned) ViewsHalves() {}

func (r *steppedNormTurned) Span(c *run.Call, lo, hi, worker int) {
	l := r.turned
	for g := lo; g < hi && !c.Pause(worker); g++ {
		base, width, _ := l.group(g)
		x := l.take(c, base, width, worker)
		for t := range width {
			r.lane(x[t*l.pitch:][:l.length], c.In[1].Half, c.In[2].Half)
		}
		l.give(c, base, width, worker)
	}
}

// lane replaces y by its result.
func (r *steppedNormTurned) lane(y, gamma, beta []fp16.Bits) {
	rules, away, length := r.rules, r.rules.Has(numerics.HalfAway), float64(len(y))
	var one [1]fp16.Bits
	one[0] = rules.Round(inOrder(y, false) / length)
	numbers.Binary(numbers.Sub, y, y, one[:], away)
	one[0], _ = rules.Unary("rsqrt", rules.Round(inOrder(y, true)/length), r.epsilon)
	numbers.Binary(numbers.Mul, y, y, one[:], away)
	if gamma != nil {
		numbers.Binary(numbers.Mul, y, y, gamma, away)
	}
	if beta != nil {
		numbers.Binary(numbers.Add, y, y, beta, away)
	}
}

// inOrder adds the numbers of x, or their squares, one after another.
func inOrder(x []fp16.Bits, squared bool) (sum float64) {
	var room [run.Chunk]float32
	for len(x) > 0 {
		m := room[:min(run.Chunk, len(x))]
		numbers.Decode(m, x[:len(m)])
		x = x[len(m):]
		if squared {
			for i, f := range m {
				m[i] = f * f // exact: 22 bits
			}
		}
		for _, f := range m {
			sum += float64(f)
		}
	}
	return sum
}

// reducerRun is reducer for runs. It adds in four sums, which is exact up to 2^29.
type reducerRun struct{ *reducer }

// newReducerRun returns nil for a reduction that it lacks.
func newReducerRun(r *reducer, rules numerics.Rules) run.Runner {
	if r.folding.way == byProduct || !r.lanes.runOf(rules) {
		return nil
	}
	return reducerRun{r}
}

func (r reducerRun) Run(c *run.Call) { c.Spread(r.lanes.groups, r.lanes.length) }

func (r reducerRun) Span(c *run.Call, lo, hi, worker int) {
	l, x := &r.lanes, c.In[0].Half
	var out [1]float32
	for g := lo; g < hi && !c.Pause(worker); g++ {
		base, _, lane := l.group(g)
		acc := r.folding.start
		l.runs(c, base, halfStretch, func(at, _, n int) { acc = foldNumbers(r.folding.way, acc, x[at:at+n]) })
		if r.folding.last != nil {
			acc = r.folding.last(acc, l.length)
		}
		out[0] = narrow(r.dtype, acc)
		c.Out[0].Store(out[:], lane)
	}
}
