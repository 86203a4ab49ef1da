package kernels

import (
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft/internal/halves"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/numerics"
)

// sumsOf are the reductions that are sums in package halves.
var sumsOf = map[way]halves.Way{bySum: halves.Value, byMagnitude: halves.Magnitude, bySquare: halves.Square}

const (
	// fewLanes is the lanes side by side for which package halves has vectors. The sums of fewer are reducer's.
	fewLanes = 16
	// rowsAtOnce is how many rows package halves takes in one call.
	rowsAtOnce = 32
)

// halfReducer reduces halves as reducer does. Along the last axis it has sixteen sums for each lane. So sums that are
// not exact may differ from reducer's by 2^-53 of the sum of magnitudes for each addition. It returns nil for a
// reduction that package halves does not have, and for lanes that are not runs or too few.
func halfReducer(l *lanes, f folding) run.Runner {
	way, sums := sumsOf[f.way]
	least := f.way == byMinimum
	extreme := least || f.way == byMaximum
	if !sums && !extreme || l.row == 1 && l.run == 1 || sums && l.row < fewLanes && l.dense(l.row) {
		return nil
	}
	if l.row > 1 {
		l.tile = min(run.Chunk, l.row)
	}
	return l.loop(1, func(c *run.Call, g, _, worker int) {
		base, width, lane := l.group(g)
		x, out := c.In[0].Half, c.Out[0].Half[lane:lane+width]
		switch {
		case l.row == 1 && extreme:
			span := halves.NewSpan()
			l.runs(c, base, halfStretch, worker, func(at, _, n int) { span.Add(x[at : at+n]) })
			low, high := span.Ends()
			if out[0] = high; least {
				out[0] = low
			}
		case l.row == 1:
			var sums halves.Sums
			l.runs(c, base, halfStretch, worker, func(at, _, n int) { sums.Add(way, x[at:at+n]) })
			out[0] = fp16.FromFloat64(f.result(sums.Total(), l.length))
		case extreme:
			spans := halves.NewSpans(least)
			l.rows(c, base, rowsAtOnce, func(at, _, n, stride int) { spans.Add(width, x[at:], n, stride) })
			spans.Result(out)
		default:
			var sums [run.Chunk]float64
			l.rows(c, base, rowsAtOnce, func(at, _, n, stride int) { halves.AddTo(way, sums[:width], x[at:], n, stride) })
			for i := range out {
				out[i] = fp16.FromFloat64(f.result(sums[i], l.length))
			}
		}
	})
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

// foldNumbers folds the numbers of x into acc. It calls no function value, so that its room stays on the stack.
func foldNumbers(w way, acc float64, x []fp16.Bits) float64 {
	var room [run.Chunk]float32
	for len(x) > 0 {
		m := room[:min(run.Chunk, len(x))]
		halves.Decode(m, x[:len(m)], numerics.Exponent31)
		x = x[len(m):]
		switch w {
		case byMaximum:
			acc = max(acc, float64(greatest4(m)))
		case byMinimum:
			for i := range m {
				m[i] = -m[i]
			}
			acc = min(acc, -float64(greatest4(m)))
		default:
			acc = w.addRun(acc, m)
		}
	}
	return acc
}
