package kernels

import (
	"math"
	"slices"

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
	l := newLanes(s.In[0].Shape, s.Attrs.(ops.Norm).Axes)
	return newNormer(s, normer{lanes: l, params: l.length, rules: s.chip()})
}

// instanceNorm is like layerNorm over the axes after the channels. Gamma and beta have
// a number for each channel, and a lane belongs to one channel.
func instanceNorm(s *Step) (run.Runner, int) {
	l := newLanes(s.In[0].Shape, s.Attrs.(ops.Norm).Axes)
	return newNormer(s, normer{lanes: l, params: s.In[0].Shape[1], channels: true, rules: s.chip()})
}

// l2Norm divides each lane over the last three axes by the root of its sum of squares.
func l2Norm(s *Step) (run.Runner, int) {
	return newNormer(s, normer{lanes: newLanes(s.In[0].Shape, s.Attrs.(ops.Norm).Axes), channels: true})
}

type normer struct {
	lanes    *lanes
	epsilon  float64
	dtype    mil.DType
	params   int  // length of gamma and beta; 0 for the norm by a lane's length, about 0
	channels bool // these belong to lanes, one after another, not to elements of a lane
	rules    numerics.Rules
}

// newNormer picks how the lanes are computed. With the rules of a chip a norm is a sequence of operators (inferred),
// each rounded to fp16: the mean, x less it, the mean of the squares, rsqrt, the product, times gamma, plus beta.
func newNormer(s *Step, r normer) (run.Runner, int) {
	l := r.lanes
	r.epsilon, r.dtype = s.Attrs.(ops.Norm).Epsilon, s.Out[0].DType
	if r.rules != 0 {
		l := l.asRuns(true)
		return l.inRuns(4, nil, r.stepped, nil), l.room()
	}
	if t := l.asRuns(false); s.halved() && t != nil && (t.row == 1 || !r.channels) {
		compute := r.halves
		if r.params == 0 {
			compute = r.byLength
		}
		return t.inRuns(4, nil, compute, nil), t.room()
	}
	return newLoop(l.groups, 4*l.length*l.tile, l.groups, r.plain), 2*r.params + l.length*l.tile
}

// plain computes groups of lanes in float64, on their elements in turn.
func (r *normer) plain(c *run.Call, lo, hi, worker int) {
	l, work := r.lanes, c.Work[worker]
	gamma, beta := work[:r.params], work[r.params:2*r.params]
	if r.params > 0 {
		fillParam(gamma, &c.In[1], 1)
		fillParam(beta, &c.In[2], 0)
	}
	for g := lo; g < hi && !c.Pause(worker); g++ {
		base, width, lane := l.group(g)
		m := work[2*r.params:][:l.length*width]
		l.load(&c.In[0], m, base, width, 0, l.length)
		r.tile(m, width, lane, gamma, beta)
		l.store(&c.Out[0], m, base, width, 0, l.length)
	}
}

// tile computes width lanes, the first of which is lane.
func (r *normer) tile(m []float32, width, lane int, gamma, beta []float32) {
	mean, scale := r.moments(m, width)
	for j := range r.lanes.length {
		row := m[j*width:][:width]
		for t, v := range row {
			y := (float64(v) - mean[t]) * scale[t]
			if r.params > 0 {
				p := j
				if r.channels {
					p = (lane + t) % r.params
				}
				y = float64(y*float64(gamma[p])) + float64(beta[p])
			}
			row[t] = narrow(r.dtype, y)
		}
	}
}

// moments returns what is subtracted from each of width lanes, and by what the differences are multiplied.
func (r *normer) moments(m []float32, width int) (mean, scale [maxTile]float64) {
	n := float64(r.lanes.length)
	if r.params == 0 {
		for part := range slices.Chunk(m, r.lanes.part()*width) {
			bySquare.add(&scale, part, width)
		}
	} else {
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
	}
	for t := range width {
		scale[t] = 1 / math.Sqrt(scale[t]+r.epsilon)
	}
	return mean, scale
}

// stepped computes a lane by the rules of a chip.
func (r *normer) stepped(h halfLane) bool {
	rules, length := r.rules, float64(h.length)
	x, out, gamma, beta := h.x, h.out, h.c.In[1].Half, h.c.In[2].Half
	var one [1]fp16.Bits
	// param is what belongs to elements j to j+n of a lane, or to all of them.
	param := func(v []fp16.Bits, j, n int) []fp16.Bits {
		if r.channels {
			return v[h.index%r.params:][:1]
		}
		return v[j : j+n]
	}
	sum, squares := 0.0, 0.0
	h.runs(halfStretch, func(at, _, n int) { sum = foldNumbers(bySum, sum, x[at:at+n]) })
	one[0] = rules.Round(sum / length)
	h.runs(run.Chunk, func(at, _, n int) {
		halves.Binary(halves.Sub, out[at:at+n], x[at:at+n], one[:], rules)
		squares = foldNumbers(bySquare, squares, out[at:at+n])
	})
	one[0], _ = rules.Unary("rsqrt", rules.Round(squares/length), r.epsilon)
	h.runs(run.Chunk, func(at, j, n int) {
		y := out[at : at+n]
		halves.Binary(halves.Mul, y, y, one[:], rules)
		if gamma != nil {
			halves.Binary(halves.Mul, y, y, param(gamma, j, n), rules)
		}
		if beta != nil {
			halves.Binary(halves.Add, y, y, param(beta, j, n), rules)
		}
	})
	return true
}

// halves computes a lane as plain does.
func (r *normer) halves(h halfLane) bool {
	// The first element belongs to the lane, so that its distance from the mean squared is at most n times the
	// variance: the difference below loses few bits.
	var m halves.Moments
	x, out := h.x, h.out
	n, first := float64(h.length), float64(x[h.base].Float32())
	h.runs(halfStretch, func(at, _, n int) { m.Add(x[at:at+n], first) })
	mean := m.Values.Total() / n
	change := halves.NewScaled(first+mean, 1/math.Sqrt(max(m.Squares.Total()/n-float64(mean*mean), 0)+r.epsilon))
	gamma, beta := h.c.In[1].Half, h.c.In[2].Half
	if r.channels && gamma != nil || beta != nil && (r.channels || gamma == nil) {
		r.repeated(&h, &change, gamma, beta)
		return true
	}
	h.runs(halfStretch, func(at, j, n int) {
		scale, shift := gamma, beta
		if scale != nil {
			scale = gamma[j:]
		}
		if shift != nil {
			shift = beta[j:]
		}
		change.Normalize(out[at:at+n], x[at:at+n], scale, shift)
	})
	return true
}

// repeated changes a lane by one gamma, and by one beta or one for each element.
func (r *normer) repeated(h *halfLane, change *halves.Scaled, gamma, beta []fp16.Bits) {
	var p normParams
	one := fp16.Bits(0x3c00)
	if gamma != nil {
		one = gamma[h.index%r.params]
	}
	fillHalves(&p.gamma, one)
	if beta != nil && r.channels {
		fillHalves(&p.beta, beta[h.index%r.params])
	}
	h.runs(run.Chunk, func(at, j, n int) {
		shift := beta
		switch {
		case beta != nil && r.channels:
			shift = p.beta[:]
		case beta != nil:
			shift = beta[j:]
		}
		change.Normalize(h.out[at:at+n], h.x[at:at+n], p.gamma[:], shift)
	})
}

// byLength divides a lane by its length.
func (r *normer) byLength(h halfLane) bool {
	var sums halves.Sums
	h.runs(halfStretch, func(at, _, n int) { sums.Add(halves.Square, h.x[at:at+n]) })
	change := halves.NewScaled(0, 1/math.Sqrt(sums.Total()+r.epsilon))
	h.runs(halfStretch, func(at, _, n int) { change.Normalize(h.out[at:at+n], h.x[at:at+n], nil, nil) })
	return true
}

// normParams are a gamma and a beta, repeated.
type normParams struct{ gamma, beta [run.Chunk]fp16.Bits }

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
