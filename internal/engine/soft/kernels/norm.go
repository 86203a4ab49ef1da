package kernels

import (
	"math"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/soft/internal/halves"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
)

// layerNorm scales each lane to mean 0 and biased variance 1, multiplies by
// gamma and adds beta. It computes in float64 and rounds once.
func layerNorm(s *Step) (run.Runner, int) {
	a := s.Attrs.(ops.Norm)
	l := newLanes(s.In[0].Shape, a.Axes)
	r := normer{lanes: l, epsilon: a.Epsilon, dtype: s.Out[0].DType, params: l.length}
	if s.halved() && l.row == 1 && l.run > 1 {
		return &halfNormer{r}, 0
	}
	if t := l.turned(); t != nil && s.halved() {
		r.lanes = t.lanes
		return &turnedNormer{halfNormer{r}, t}, t.room()
	}
	return &r, l.length * (l.tile + 2)
}

// instanceNorm is like layerNorm over the axes after the channels. Gamma and beta have
// a number for each channel, and a lane belongs to one channel.
func instanceNorm(s *Step) (run.Runner, int) {
	a, x := s.Attrs.(ops.Norm), s.In[0].Shape
	l := newLanes(x, a.Axes)
	r := &normer{lanes: l, epsilon: a.Epsilon, dtype: s.Out[0].DType, params: x[1], channels: true}
	if s.halved() && l.row == 1 && l.run > 1 {
		return &halfNormer{*r}, 0
	}
	return r, l.length*l.tile + 2*x[1]
}

type normer struct {
	lanes    lanes
	epsilon  float64
	dtype    mil.DType
	params   int  // length of gamma and beta
	channels bool // these belong to lanes, one after another, not to elements of a lane
}

func (r *normer) Run(c *run.Call) { c.Spread(r.lanes.groups, 4*r.lanes.length*r.lanes.tile) }

func (r *normer) Span(c *run.Call, lo, hi, worker int) {
	l := &r.lanes
	work := c.Work[worker]
	gamma, beta, rest := work[:r.params], work[r.params:2*r.params], work[2*r.params:]
	fillParam(gamma, &c.In[1], 1)
	fillParam(beta, &c.In[2], 0)
	n := float64(l.length)
	for g := lo; g < hi && !c.Pause(worker); g++ {
		base, width, lane := l.group(g)
		m := rest[:l.length*width]
		l.load(&c.In[0], m, base, width, 0, l.length)
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
		for j := range l.length {
			row := m[j*width:][:width]
			for t, v := range row {
				p := j
				if r.channels {
					p = (lane + t) % r.params
				}
				row[t] = narrow(r.dtype, float64((float64(v)-mean[t])*scale[t]*float64(gamma[p]))+float64(beta[p]))
			}
		}
		l.store(&c.Out[0], m, base, width, 0, l.length)
	}
}

// halfNormer is normer for lanes of runs of halves.
type halfNormer struct{ normer }

// normParams are a gamma and a beta that a whole lane has, repeated.
type normParams struct{ gamma, beta [run.Chunk]fp16.Bits }

func (r *halfNormer) Span(c *run.Call, lo, hi, worker int) {
	var p normParams
	for g := lo; g < hi && !c.Pause(worker); g++ {
		base, _, lane := r.lanes.group(g)
		r.lane(c, &r.lanes, c.In[0].Half, c.Out[0].Half, base, lane, &p)
	}
}

// lane computes the lane of l at base. Its gamma and beta are those of channel lane, or one for each element.
func (r *halfNormer) lane(c *run.Call, l *lanes, x, out []fp16.Bits, base, lane int, p *normParams) {
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

// runs calls f with the runs of a group's first lane, in pieces of most elements or fewer: the offset in memory, the
// index in the lane and the length.
func (l *lanes) runs(c *run.Call, base, most int, f func(at, j, n int)) {
	for j := 0; j < l.length && !c.Stopped(); {
		at, n := l.at(base, j)
		n = min(n, most)
		f(at, j, n)
		j += n
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

// batchNorm subtracts the given mean of each channel of x [N, C, *D], divides by the
// given deviation, multiplies by gamma and adds beta, in float64.
func batchNorm(s *Step) (run.Runner, int) {
	x := s.In[0].Shape
	r := &batchNormer{channels: x[1], plane: ops.Volume(x[2:]), epsilon: s.Attrs.(ops.Norm).Epsilon,
		dtype: s.Out[0].DType}
	if s.halved() {
		return &halfBatchNormer{*r}, 0
	}
	return r, run.Chunk
}

type batchNormer struct {
	channels int
	plane    int // elements of a channel
	epsilon  float64
	dtype    mil.DType
}

func (r *batchNormer) Run(c *run.Call) { c.Spread(c.Out[0].Len(), 2) }

func (r *batchNormer) Span(c *run.Call, lo, hi, worker int) {
	var p [4]float32
	for loaded := -1; lo < hi && !c.Pause(worker); {
		if channel := lo / r.plane % r.channels; channel != loaded {
			p, loaded = r.load(c, channel), channel
		}
		scale := 1 / math.Sqrt(float64(p[1])+r.epsilon)
		x := c.Work[worker][:min(r.plane-lo%r.plane, hi-lo, run.Chunk)]
		c.In[0].Load(x, lo)
		for i, v := range x {
			x[i] = narrow(r.dtype, float64((float64(v)-float64(p[0]))*scale*float64(p[2]))+float64(p[3]))
		}
		c.Out[0].Store(x, lo)
		lo += len(x)
	}
}

// load returns mean, variance, gamma and beta of a channel.
func (r *batchNormer) load(c *run.Call, channel int) [4]float32 {
	p := [4]float32{2: 1}
	for i := range p {
		if v := &c.In[1+i]; v.Raw != nil {
			v.Load(p[i:i+1], channel)
		}
	}
	return p
}

// halfBatchNormer is batchNormer for halves.
type halfBatchNormer struct{ batchNormer }

func (r *halfBatchNormer) Span(c *run.Call, lo, hi, worker int) {
	var repeated normParams
	var change halves.Scaled
	for loaded := -1; lo < hi && !c.Pause(worker); {
		if channel := lo / r.plane % r.channels; channel != loaded {
			p := r.load(c, channel)
			change, loaded = halves.NewScaled(float64(p[0]), 1/math.Sqrt(float64(p[1])+r.epsilon)), channel
			fillHalves(&repeated.gamma, fp16.FromFloat32(p[2]))
			fillHalves(&repeated.beta, fp16.FromFloat32(p[3]))
		}
		n := min(r.plane-lo%r.plane, hi-lo, run.Chunk)
		change.Normalize(c.Out[0].Half[lo:lo+n], c.In[0].Half[lo:lo+n], repeated.gamma[:n], repeated.beta[:n])
		lo += n
	}
}

// l2Norm divides each lane over the last three axes by the root of its sum of squares.
func l2Norm(s *Step) (run.Runner, int) {
	a := s.Attrs.(ops.Norm)
	l := newLanes(s.In[0].Shape, a.Axes)
	r := &lengthNormer{lanes: l, epsilon: a.Epsilon, dtype: s.Out[0].DType, rows: max(run.Chunk/l.tile, 1)}
	if s.halved() && l.row == 1 && l.run > 1 {
		return &halfLengthNormer{*r}, 0
	}
	return r, l.tile * r.rows
}

type lengthNormer struct {
	lanes   lanes
	epsilon float64
	dtype   mil.DType
	rows    int // elements of a lane read at a time
}

func (r *lengthNormer) Run(c *run.Call) { c.Spread(r.lanes.groups, 2*r.lanes.length*r.lanes.tile) }

func (r *lengthNormer) Span(c *run.Call, lo, hi, worker int) {
	l, work := &r.lanes, c.Work[worker]
	for g := lo; g < hi && !c.Pause(worker); g++ {
		base, width, _ := l.group(g)
		var sum [maxTile]float64
		l.visit(c, work, base, width, r.rows, func(m []float32, _ int) { bySquare.add(&sum, m, width) })
		for t := range width {
			sum[t] = 1 / math.Sqrt(sum[t]+r.epsilon)
		}
		l.visit(c, work, base, width, r.rows, func(m []float32, from int) {
			for i, v := range m {
				m[i] = narrow(r.dtype, float64(v)*sum[i%width])
			}
			l.store(&c.Out[0], m, base, width, from, from+len(m)/width)
		})
	}
}

// halfLengthNormer is lengthNormer for lanes of runs of halves.
type halfLengthNormer struct{ lengthNormer }

func (r *halfLengthNormer) Span(c *run.Call, lo, hi, worker int) {
	x, out := c.In[0].Half, c.Out[0].Half
	for g := lo; g < hi && !c.Pause(worker); g++ {
		base, _, _ := r.lanes.group(g)
		var sums halves.Sums
		r.lanes.runs(c, base, halfStretch, func(at, _, n int) { sums.Add(halves.Square, x[at:at+n]) })
		change := halves.NewScaled(0, 1/math.Sqrt(sums.Total()+r.epsilon))
		r.lanes.runs(c, base, halfStretch, func(at, _, n int) {
			change.Normalize(out[at:at+n], x[at:at+n], nil, nil)
		})
	}
}

// localNorm divides each element by (k + alpha/size * sum)^beta, with the sum of the
// squares of the channels at a distance of up to size/2.
func localNorm(s *Step) (run.Runner, int) {
	x := s.In[0].Shape
	r := &localNormer{norm: s.Attrs.(ops.Norm), channels: x[1], plane: ops.Volume(x[2:]), dtype: s.Out[0].DType}
	return r, run.Chunk
}

type localNormer struct {
	norm     ops.Norm
	channels int
	plane    int // elements of a channel
	dtype    mil.DType
}

func (r *localNormer) Run(c *run.Call) { c.Spread(c.Out[0].Len(), 8+min(r.norm.Size, r.channels)) }

func (r *localNormer) Span(c *run.Call, lo, hi, worker int) {
	const tile = 256
	reach := r.norm.Size / 2
	for lo < hi && !c.Pause(worker) {
		n := min(r.plane-lo%r.plane, hi-lo, tile)
		x := c.Work[worker][:n]
		var sum [tile]float64
		channel := lo / r.plane % r.channels
		for near := max(channel-reach, 0); near <= min(channel+reach, r.channels-1) && !c.Pause(worker); near++ {
			c.In[0].Load(x, lo+(near-channel)*r.plane)
			for i, v := range x {
				sum[i] += float64(float64(v) * float64(v))
			}
		}
		c.In[0].Load(x, lo)
		for i, v := range x {
			base := r.norm.K + float64(r.norm.Alpha/float64(r.norm.Size)*sum[i])
			x[i] = narrow(r.dtype, float64(v)/math.Pow(base, r.norm.Beta))
		}
		c.Out[0].Store(x, lo)
		lo += n
	}
}
