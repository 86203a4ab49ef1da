package kernels

import (
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/numerics"
	"github.com/anekit/anekit/internal/ops"
)

// stepped is softmax as a chip's sequence of operators (rule Steps; that the maximum is subtracted is known, the
// rest is inferred): x - max, exp, the sum, its inverse, and a multiplication, each rounded to fp16.
type stepped struct {
	softmaxer
	rules numerics.Rules
	exp   *table // nil in a step of few elements
}

func newStepped(s *Step, r *softmaxer) *stepped {
	t := &stepped{softmaxer: *r, rules: s.Arith.Operand}
	if ops.Volume(s.Out[0].Shape) >= tabled {
		t.exp = s.Arith.Tables.of((&Step{Op: "exp", Attrs: ops.Unary{}, Arith: s.Arith}).key())
	}
	return t
}

func (r *stepped) raise(h fp16.Bits) fp16.Bits {
	y, _ := r.rules.Unary("exp", h, 0)
	return y
}

func (r *stepped) Run(c *run.Call) {
	if r.exp != nil {
		r.exp.make(r.raise)
	}
	r.softmaxer.Run(c)
}

func (r *stepped) Span(c *run.Call, lo, hi, worker int) {
	l, rules := &r.lanes, r.rules
	for g := lo; g < hi && !c.Pause(worker); g++ {
		var top [maxTile]float32
		m, base, width := l.read(&c.In[0], c.Work[worker], &top, g)
		var sum [maxTile]float64
		for row := m; len(row) > 0; row = row[width:] {
			for t, v := range row[:width] {
				h := rules.Round(float64(v) - float64(top[t]))
				if r.exp != nil {
					h = r.exp.values[h]
				} else {
					h = r.raise(h)
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
}

// steppedNorm is layer_norm and instance_norm as such a sequence (inferred): the mean, x less it, the mean of the
// squares, rsqrt, the product, times gamma, plus beta.
type steppedNorm struct {
	normer
	rules numerics.Rules
}

func (r *steppedNorm) round(f float64) float64 { return float64(r.rules.Value(r.rules.Round(f))) }

func (r *steppedNorm) Span(c *run.Call, lo, hi, worker int) {
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
		for j := range l.length {
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
		l.store(&c.Out[0], m, base, width, 0, l.length)
	}
}
