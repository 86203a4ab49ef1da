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

type normer struct {
	lanes    *lanes
	epsilon  float64
	dtype    mil.DType
	params   int  // length of gamma and beta; 0 for the norm by a lane's length, about 0
	channels bool // these belong to lanes, one after another, not to elements of a lane
	gamma    int  // the operand, after mean and variance where these are given; beta follows
	rules    numerics.Rules
	room     int // floats of the workspace that the lanes take
}

// norm scales each lane to mean 0 and biased variance 1, multiplies by gamma and adds beta. It computes in float64 and
// rounds once. Gamma and beta of layer_norm have a number for each element of a lane. Those of instance_norm and
// batch_norm have one for each channel: a lane of instance_norm belongs to one channel. batch_norm is given mean and
// variance. l2_norm divides by the root of a lane's sum of squares.
//
// With the rules of a chip layer_norm and instance_norm are sequences of operators (inferred), each rounded to fp16.
// They are the mean, x less the mean, the mean of the squares, rsqrt, the product, times gamma, plus beta.
func norm(s *Step) (run.Runner, int) {
	a, shape := s.Attrs.(ops.Norm), s.In[0].Shape
	l := newLanes(shape, a.Axes)
	r := &normer{lanes: l, epsilon: a.Epsilon, dtype: s.Out[0].DType, params: l.length, gamma: 1, rules: s.chip()}
	switch s.Op {
	case "instance_norm":
		r.params, r.channels = shape[1], true
	case "batch_norm":
		r.params, r.channels, r.gamma, r.rules = shape[1], true, 3, 0
	case "l2_norm":
		r.params, r.channels, r.gamma, r.rules = 0, true, 0, 0
	}
	if r.rules != 0 {
		l := l.asRuns(true)
		return l.inRuns(4, oneByOne(r.stepped)), l.room()
	}
	if t := l.asRuns(false); s.halved() && t != nil && (t.row == 1 || !r.channels) {
		r.room = t.room()
		return t.inRuns(4, oneByOne(func(h halfLane) { r.halves(&h) })), r.room + run.Chunk
	}
	return newLoop(l.groups(), 4*l.length*l.tile, l.groups(), r.plain), (r.gamma+1)*r.params + l.length*l.tile
}

// plain computes groups of lanes in float64, one element after another.
func (r *normer) plain(c *run.Call, lo, hi, worker int) {
	l, work := r.lanes, c.Work[worker]
	var params [5][]float32 // by operand
	for k := 1; r.params > 0 && k <= r.gamma+1; k++ {
		params[k], work = work[:r.params], work[r.params:]
		neutral := float32(0)
		if k == r.gamma {
			neutral = 1
		}
		fillParam(params[k], &c.In[k], neutral)
	}
	for g := lo; g < hi && !c.Pause(worker); g++ {
		base, width, lane := l.group(g)
		m := work[:l.length*width]
		l.load(&c.In[0], m, base, width, 0, l.length)
		r.tile(m, width, lane, &params)
		l.store(&c.Out[0], m, base, width, 0, l.length)
	}
}

// tile computes width lanes, the first of which is lane.
func (r *normer) tile(m []float32, width, lane int, params *[5][]float32) {
	mean, scale := r.moments(m, width, lane, params)
	gamma, beta := params[r.gamma], params[r.gamma+1]
	var by, shift [maxTile]float64 // those of each lane
	for t := range width {
		by[t], shift[t] = 1, math.Copysign(0, -1) // x + -0 is x, also for -0
		if r.params > 0 && r.channels {
			p := (lane + t) % r.params
			by[t], shift[t] = float64(gamma[p]), float64(beta[p])
		}
	}
	for j := range r.lanes.length {
		row := m[j*width:][:width]
		for t, v := range row {
			by, shift := by[t], shift[t]
			if !r.channels {
				by, shift = float64(gamma[j]), float64(beta[j])
			}
			row[t] = narrow(r.dtype, float64((float64(v)-mean[t])*scale[t]*by)+shift)
		}
	}
}

// moments returns what is subtracted from each of width lanes, and by what the differences are multiplied.
func (r *normer) moments(m []float32, width, lane int, params *[5][]float32) (mean, scale [maxTile]float64) {
	n := float64(r.lanes.length)
	switch r.gamma {
	case 0: // about 0
		for part := range slices.Chunk(m, r.lanes.part()*width) {
			bySquare.add(&scale, part, width)
		}
	case 1:
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
	default:
		for t := range width {
			p := (lane + t) % r.params
			mean[t], scale[t] = float64(params[1][p]), float64(params[2][p])
		}
	}
	for t := range width {
		scale[t] = 1 / math.Sqrt(scale[t]+r.epsilon)
	}
	return mean, scale
}

// param returns gamma of a lane, or the operand at a distance from it: a number for each element, one for all, or none.
func (r *normer) param(h *halfLane, from int) []fp16.Bits {
	if r.params == 0 {
		return nil
	}
	v := h.c.In[r.gamma+from].Half
	if v != nil && r.channels {
		return v[h.index%r.params:][:1]
	}
	return v
}

// part returns what of a parameter belongs to elements j to j+n of a lane: all of one that has fewer numbers than it.
func (h *halfLane) part(param []fp16.Bits, j, n int) []fp16.Bits {
	if len(param) < h.length {
		return param
	}
	return param[j : j+n]
}

// stepped computes a lane by the rules of a chip.
func (r *normer) stepped(h halfLane) {
	rules, length := r.rules, float64(h.length)
	x, out, gamma, beta := h.x, h.out, r.param(&h, 0), r.param(&h, 1)
	var one [1]fp16.Bits
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
			halves.Binary(halves.Mul, y, y, h.part(gamma, j, n), rules)
		}
		if beta != nil {
			halves.Binary(halves.Add, y, y, h.part(beta, j, n), rules)
		}
	})
}

// halves computes a lane as plain does.
func (r *normer) halves(h *halfLane) {
	x, out, change, gamma, beta := h.x, h.out, r.change(h), r.param(h, 0), r.param(h, 1)
	if beta == nil && r.gamma > 1 {
		beta = []fp16.Bits{0} // so that no zero is negative
	}
	if gamma == nil && beta != nil {
		gamma = []fp16.Bits{0x3c00}
	}
	most := halfStretch
	if len(gamma) == 1 || len(beta) == 1 {
		most = min(h.length, run.Chunk)
		room := h.c.Rooms[h.worker].Half[2*r.room:]
		gamma, beta = repeatedHalves(gamma, room[:most]), repeatedHalves(beta, room[most:][:most])
	}
	h.runs(most, func(at, j, n int) {
		change.Normalize(out[at:at+n], x[at:at+n], h.part(gamma, j, n), h.part(beta, j, n))
	})
}

// change returns how a lane changes before gamma and beta.
func (r *normer) change(h *halfLane) halves.Scaled {
	x := h.x
	switch r.gamma {
	case 0:
		var sums halves.Sums
		h.runs(halfStretch, func(at, _, n int) { sums.Add(halves.Square, x[at:at+n]) })
		return halves.NewScaled(0, 1/math.Sqrt(sums.Total()+r.epsilon))
	case 1:
		// The first element belongs to the lane, so that its distance from the mean squared is at most n times the
		// variance: the difference below loses few bits.
		var m halves.Moments
		n, first := float64(h.length), float64(x[h.base].Float32())
		h.runs(halfStretch, func(at, _, n int) { m.Add(x[at:at+n], first) })
		mean := m.Values.Total() / n
		return halves.NewScaled(first+mean, 1/math.Sqrt(max(m.Squares.Total()/n-float64(mean*mean), 0)+r.epsilon))
	}
	mean, variance := r.param(h, -2)[0].Float32(), r.param(h, -1)[0].Float32()
	return halves.NewScaled(float64(mean), 1/math.Sqrt(float64(variance)+r.epsilon))
}

// repeatedHalves is a list whose one number room then has at every place, or another list as it is.
func repeatedHalves(list, room []fp16.Bits) []fp16.Bits {
	if len(list) != 1 {
		return list
	}
	fill(room, list[0])
	return room
}

func fill[T any](list []T, v T) {
	for i := range list {
		list[i] = v
	}
}

// fillParam decodes gamma or beta, or fills dst with the neutral value if the program has none.
func fillParam(dst []float32, v *run.Vec, neutral float32) {
	if v.Raw != nil {
		v.Load(dst, 0)
		return
	}
	fill(dst, neutral)
}

// localNorm divides each element by (k + alpha/size * sum)^beta, with the sum of the
// squares of the channels at a distance of up to size/2.
func localNorm(s *Step) (run.Runner, int) {
	const tile = 256
	a, x, d := s.Attrs.(ops.Norm), s.In[0].Shape, s.Out[0].DType
	channels, plane, reach := x[1], ops.Volume(x[2:]), a.Size/2
	return newLoop(s.Out[0].len(), 8+min(a.Size, channels), s.Out[0].len(), func(c *run.Call, lo, hi, worker int) {
		for lo < hi && !c.Pause(worker) {
			n := min(plane-lo%plane, hi-lo, tile)
			x := c.Work[worker][:n]
			var sum [tile]float64
			channel := lo / plane % channels
			for near := max(channel-reach, 0); near <= min(channel+reach, channels-1) && !c.Pause(worker); near++ {
				c.In[0].Load(x, lo+(near-channel)*plane)
				for i, v := range x {
					sum[i] += float64(float64(v) * float64(v))
				}
			}
			c.In[0].Load(x, lo)
			for i, v := range x {
				base := a.K + float64(a.Alpha/float64(a.Size)*sum[i])
				x[i] = narrow(d, float64(v)/math.Pow(base, a.Beta))
			}
			c.Out[0].Store(x, lo)
			lo += n
		}
	}), tile
}
