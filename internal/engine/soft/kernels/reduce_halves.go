package kernels

import (
	"math"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft/internal/halves"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/numerics"
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

// The runners of a chip's softmax, norms and reductions compute lanes that are runs of halves with package halves,
// step by step over a whole lane. Their results are those of the runners over several lanes.

// runOf reports whether the lanes are runs, and the rules those of a chip.
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
		halves.Decode(m, x[:len(m)], numerics.Exponent31)
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

// bitsOf returns the half of a number, of an infinite one too.
func bitsOf(f float32) fp16.Bits {
	b := math.Float32bits(f / 0x1p112)
	return fp16.Bits(b>>16&0x8000 | b>>13&0x7fff)
}

// inOrder adds the numbers of x, or their squares, one after another.
func inOrder(x []fp16.Bits, squared bool) (sum float64) {
	var room [run.Chunk]float32
	for len(x) > 0 {
		m := room[:min(run.Chunk, len(x))]
		halves.Decode(m, x[:len(m)], numerics.Exponent31)
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
