package kernels

import (
	"math"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/soft/internal/halves"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/numerics"
	"github.com/anekit/anekit/internal/ops"
)

// layerNorm scales each lane to mean 0 and biased variance 1, multiplies by
// gamma and adds beta. It computes in float64 and rounds once.
func layerNorm(s *Step) (run.Runner, int) {
	a := s.Attrs.(ops.Norm)
	l := newLanes(s.In[0].Shape, a.Axes)
	return (&normer{lanes: l, epsilon: a.Epsilon, dtype: s.Out[0].DType, params: l.length, rules: s.chip()}).runner(s)
}

// instanceNorm is like layerNorm over the axes after the channels. Gamma and beta have
// a number for each channel, and a lane belongs to one channel.
func instanceNorm(s *Step) (run.Runner, int) {
	a, x := s.Attrs.(ops.Norm), s.In[0].Shape
	return (&normer{lanes: newLanes(x, a.Axes), epsilon: a.Epsilon, dtype: s.Out[0].DType, params: x[1], channels: true,
		rules: s.chip()}).runner(s)
}

type normer struct {
	lanes    *lanes
	epsilon  float64
	dtype    mil.DType
	params   int  // length of gamma and beta
	channels bool // these belong to lanes, one after another, not to elements of a lane
	rules    numerics.Rules
}

// runner picks how the lanes are computed. With the rule Steps a norm is a sequence of operators (inferred), each
// rounded to fp16: the mean, x less it, the mean of the squares, rsqrt, the product, times gamma, plus beta.
func (r *normer) runner(s *Step) (run.Runner, int) {
	l := r.lanes
	work, cost, turned := 2*r.params+l.length*l.tile, 4*l.length*l.tile, l.turned()
	if r.channels {
		turned = nil
	}
	switch stepped := r.rules.Has(numerics.Steps | numerics.Tables); {
	case stepped && l.runOf(r.rules):
		return l.loop(4, r.steppedRuns), work
	case stepped && turned != nil && r.rules.Has(numerics.Exponent31):
		return turned.inRuns(4, r.steppedLane, nil), turned.room()
	case stepped:
		return &ranges{l.groups, cost, r.stepped}, work
	case s.halved() && l.row == 1 && l.run > 1:
		return &ranges{l.groups, cost, r.halves}, 0
	case s.halved() && turned != nil:
		return turned.inRuns(4, func(c *run.Call, x []fp16.Bits, _ int) bool {
			var p normParams
			r.lane(c, turned.runs, x, x, 0, 0, &p)
			return true
		}, nil), turned.room()
	}
	return &ranges{l.groups, cost, r.plain}, work
}

func (r *normer) plain(c *run.Call, lo, hi, worker int) { r.tiles(c, lo, hi, worker, r.plainTile) }

func (r *normer) stepped(c *run.Call, lo, hi, worker int) { r.tiles(c, lo, hi, worker, r.steppedTile) }

// tile computes width lanes, the first of which is lane, on their elements in turn.
type tile func(c *run.Call, m []float32, width, lane int, gamma, beta []float32)

// tiles has compute normalize tiles of lanes.
func (r *normer) tiles(c *run.Call, lo, hi, worker int, compute tile) {
	l, work := r.lanes, c.Work[worker]
	gamma, beta, rest := work[:r.params], work[r.params:2*r.params], work[2*r.params:]
	fillParam(gamma, &c.In[1], 1)
	fillParam(beta, &c.In[2], 0)
	for g := lo; g < hi && !c.Pause(worker); g++ {
		base, width, lane := l.group(g)
		m := rest[:l.length*width]
		l.load(&c.In[0], m, base, width, 0, l.length)
		compute(c, m, width, lane, gamma, beta)
		l.store(&c.Out[0], m, base, width, 0, l.length)
	}
}

func (r *normer) plainTile(_ *run.Call, m []float32, width, lane int, gamma, beta []float32) {
	n := float64(r.lanes.length)
	var mean, scale [maxTile]float64
	for row := m; len(row) > 0; row = row[width:] {
		for t, v := range row[:width] {
			mean[t] += float64(v) / n
		}
	}
	for row := m; len(row) > 0; row = row[width:] {
		for t, v := range row[:width] {
			d := float64(v) - mean[t]
			scale[t] += d * d / n
		}
	}
	for t := range width {
		scale[t] = 1 / math.Sqrt(scale[t]+r.epsilon)
	}
	for j := range r.lanes.length {
		row := m[j*width:][:width]
		for t, v := range row {
			p := j
			if r.channels {
				p = (lane + t) % r.params
			}
			row[t] = narrow(r.dtype, float64((float64(v)-mean[t])*scale[t]*float64(gamma[p]))+float64(beta[p]))
		}
	}
}

func (r *normer) round(f float64) float64 { return float64(r.rules.Value(r.rules.Round(f))) }

func (r *normer) steppedTile(c *run.Call, m []float32, width, lane int, gamma, beta []float32) {
	n := float64(r.lanes.length)
	var mean, scale [maxTile]float64
	for row := m; len(row) > 0; row = row[width:] {
		for t, v := range row[:width] {
			mean[t] += float64(v)
		}
	}
	for t := range width {
		mean[t] = r.round(mean[t] / n)
	}
	for row := m; len(row) > 0; row = row[width:] {
		for t, v := range row[:width] {
			row[t] = float32(r.round(float64(v) - mean[t]))
			scale[t] += float64(row[t]) * float64(row[t])
		}
	}
	for t := range width {
		h, _ := r.rules.Unary("rsqrt", r.rules.Round(scale[t]/n), r.epsilon)
		scale[t] = float64(r.rules.Value(h))
	}
	for j := range r.lanes.length {
		row := m[j*width:][:width]
		for t, v := range row {
			p := j
			if r.channels {
				p = (lane + t) % r.params
			}
			y := r.round(float64(v) * scale[t])
			if c.In[1].Raw != nil {
				y = r.round(y * float64(gamma[p]))
			}
			row[t] = toOdd(y + float64(beta[p]))
		}
	}
}

// steppedRuns is stepped for a lane of runs of halves.
func (r *normer) steppedRuns(c *run.Call, g, _ int) {
	l, rules, length := r.lanes, r.rules, float64(r.lanes.length)
	x, out, gamma, beta := c.In[0].Half, c.Out[0].Half, c.In[1].Half, c.In[2].Half
	var one [1]fp16.Bits
	base, _, lane := l.group(g)
	// param is what belongs to elements j to j+n of a lane, or to all of them.
	param := func(v []fp16.Bits, j, n int) []fp16.Bits {
		if r.channels {
			return v[lane%r.params:][:1]
		}
		return v[j : j+n]
	}
	sum, squares := 0.0, 0.0
	l.runs(c, base, halfStretch, func(at, _, n int) { sum = foldNumbers(bySum, sum, x[at:at+n]) })
	one[0] = rules.Round(sum / length)
	l.runs(c, base, run.Chunk, func(at, _, n int) {
		halves.Binary(halves.Sub, out[at:at+n], x[at:at+n], one[:], rules)
		squares = foldNumbers(bySquare, squares, out[at:at+n])
	})
	one[0], _ = rules.Unary("rsqrt", rules.Round(squares/length), r.epsilon)
	l.runs(c, base, run.Chunk, func(at, j, n int) {
		y := out[at : at+n]
		halves.Binary(halves.Mul, y, y, one[:], rules)
		if gamma != nil {
			halves.Binary(halves.Mul, y, y, param(gamma, j, n), rules)
		}
		if beta != nil {
			halves.Binary(halves.Add, y, y, param(beta, j, n), rules)
		}
	})
}

// steppedLane replaces a lane that was turned into a run. Unlike steppedRuns it adds the elements in their order, as
// stepped does.
func (r *normer) steppedLane(c *run.Call, y []fp16.Bits, _ int) bool {
	rules, length := r.rules, float64(len(y))
	gamma, beta := c.In[1].Half, c.In[2].Half
	var one [1]fp16.Bits
	one[0] = rules.Round(inOrder(y, false) / length)
	halves.Binary(halves.Sub, y, y, one[:], rules)
	one[0], _ = rules.Unary("rsqrt", rules.Round(inOrder(y, true)/length), r.epsilon)
	halves.Binary(halves.Mul, y, y, one[:], rules)
	if gamma != nil {
		halves.Binary(halves.Mul, y, y, gamma, rules)
	}
	if beta != nil {
		halves.Binary(halves.Add, y, y, beta, rules)
	}
	return true
}

// halves is plain for lanes of runs of halves.
func (r *normer) halves(c *run.Call, lo, hi, worker int) {
	var p normParams
	for g := lo; g < hi && !c.Pause(worker); g++ {
		base, _, lane := r.lanes.group(g)
		r.lane(c, r.lanes, c.In[0].Half, c.Out[0].Half, base, lane, &p)
	}
}

// normParams are a gamma and a beta that a whole lane has, repeated.
type normParams struct{ gamma, beta [run.Chunk]fp16.Bits }

// lane computes the lane of l at base. Its gamma and beta are those of channel lane, or one for each element.
func (r *normer) lane(c *run.Call, l *lanes, x, out []fp16.Bits, base, lane int, p *normParams) {
	n, gamma, beta := float64(l.length), c.In[1].Half, c.In[2].Half
	// The first element belongs to the lane, so that its distance from the mean squared is at most n times the
	// variance: the difference below loses few bits.
	var m halves.Moments
	first := float64(x[base].Float32())
	l.runs(c, base, halfStretch, func(at, _, n int) { m.Add(x[at:at+n], first) })
	mean := m.Values.Total() / n
	change := halves.NewScaled(first+mean, 1/math.Sqrt(max(m.Squares.Total()/n-float64(mean*mean), 0)+r.epsilon))
	piece, one, zero := halfStretch, false, false
	if gamma != nil && r.channels {
		fillHalves(&p.gamma, gamma[lane%r.params])
		one = true
	}
	if gamma == nil && beta != nil {
		fillHalves(&p.gamma, 0x3c00)
		one = true
	}
	if beta != nil && r.channels {
		fillHalves(&p.beta, beta[lane%r.params])
		zero = true
	}
	if one || zero {
		piece = run.Chunk
	}
	l.runs(c, base, piece, func(at, j, n int) {
		var scale, shift []fp16.Bits
		switch {
		case one:
			scale = p.gamma[:]
		case gamma != nil:
			scale = gamma[j:]
		}
		switch {
		case zero:
			shift = p.beta[:]
		case beta != nil:
			shift = beta[j:]
		}
		change.Normalize(out[at:at+n], x[at:at+n], scale, shift)
	})
}

func fillHalves(list *[run.Chunk]fp16.Bits, h fp16.Bits) {
	for i := range list {
		list[i] = h
	}
}

// fillParam decodes gamma or beta, or fills dst with the neutral value if the
// program has none.
func fillParam(dst []float32, v *run.Vec, neutral float32) {
	if v.Raw != nil {
		v.Load(dst, 0)
		return
	}
	for i := range dst {
		dst[i] = neutral
	}
}
