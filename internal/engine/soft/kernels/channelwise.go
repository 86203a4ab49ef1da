package kernels

import (
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/soft/run"
)

// channels plans the walk of x and of a vector with one element for each channel, axis 1 of x.
func channels(s *Step) walk {
	vector := make([]int, len(s.Out[0].Shape)-1)
	for i := range vector {
		vector[i] = 1
	}
	vector[0] = s.Out[0].Shape[1]
	return broadcast(s.Out[0].Shape, s.In[0].Shape, vector)
}

// prelu multiplies negative elements by the number of their channel. As in floatOps, float32 is exact enough.
func prelu(s *Step) (run.Runner, int) {
	return &floatBinary{walk: channels(s), op: func(dst, x, alpha []float32) {
		for i := range dst {
			if dst[i] = x[i]; x[i] < 0 {
				dst[i] = alpha[i] * x[i]
			}
		}
	}}, 3 * run.Chunk
}

// softplusParametric is alpha * softplus(beta * x), with two numbers for each channel.
func softplusParametric(s *Step) (run.Runner, int) {
	return &channelSoftplus{walk: channels(s), dtype: s.Out[0].DType}, 3 * run.Chunk
}

type channelSoftplus struct {
	walk  walk
	dtype mil.DType
}

func (r *channelSoftplus) Run(c *run.Call) { c.Spread(r.walk.total, r.Element()) }

func (*channelSoftplus) Element() int { return 8 }

func (r *channelSoftplus) Span(c *run.Call, lo, hi, worker int) {
	work := c.Work[worker]
	x := work[:run.Chunk]
	alpha := feed{room: work[run.Chunk : 2*run.Chunk], v: &c.In[1], step: r.walk.ystep}
	beta := feed{room: work[2*run.Chunk : 3*run.Chunk], v: &c.In[2], step: r.walk.ystep}
	for lo < hi && !c.Pause(worker) {
		_, channel, n := r.walk.at(lo)
		n = min(n, hi-lo, run.Chunk)
		c.In[0].Load(x[:n], lo)
		a, b := alpha.next(channel, n), beta.next(channel, n)
		for i, v := range x[:n] {
			x[i] = narrow(r.dtype, float64(a[i])*softplus(float64(b[i])*float64(v)))
		}
		c.Out[0].Store(x[:n], lo)
		lo += n
	}
}
