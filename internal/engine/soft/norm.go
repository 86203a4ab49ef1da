package soft

import (
	"math"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/ops"
)

// layerNorm scales each lane to mean 0 and biased variance 1, multiplies by
// gamma and adds beta. It computes in float64 and rounds once.
func layerNorm(s *step) (runner, int) {
	a := s.attrs.(ops.Norm)
	l := newLanes(s.in[0].shape, a.Axes)
	return &normer{lanes: l, epsilon: a.Epsilon, dtype: s.out[0].dtype}, l.length * (l.tile + 2)
}

type normer struct {
	lanes   lanes
	epsilon float64
	dtype   mil.DType
}

func (r *normer) run(c *call) { c.spread(r.lanes.groups, 4*r.lanes.length*r.lanes.tile) }

func (r *normer) span(c *call, lo, hi, worker int) {
	l := &r.lanes
	work := c.work[worker]
	gamma, beta, rest := work[:l.length], work[l.length:2*l.length], work[2*l.length:]
	fillParam(gamma, &c.in[1], 1)
	fillParam(beta, &c.in[2], 0)
	n := float64(l.length)
	for g := lo; g < hi && !c.stopped(); g++ {
		base, width, _ := l.group(g)
		m := rest[:l.length*width]
		l.load(&c.in[0], m, base, width, 0, l.length)
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
				row[t] = narrow(r.dtype, (float64(v)-mean[t])*scale[t]*float64(gamma[j])+float64(beta[j]))
			}
		}
		l.store(&c.out[0], m, base, width)
	}
}

// fillParam decodes gamma or beta, or fills dst with the neutral value if the
// program has none.
func fillParam(dst []float32, v *vec, neutral float32) {
	if v.raw != nil {
		v.load(dst, 0)
		return
	}
	for i := range dst {
		dst[i] = neutral
	}
}
