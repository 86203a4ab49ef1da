package soft

import "github.com/anekit/anekit/ane/mil"

// channels plans the walk of x and of a vector with one element for each channel, axis 1 of x.
func channels(s *step) walk {
	vector := make([]int, len(s.out[0].shape)-1)
	for i := range vector {
		vector[i] = 1
	}
	vector[0] = s.out[0].shape[1]
	return broadcast(s.out[0].shape, s.in[0].shape, vector)
}

// prelu multiplies negative elements by the number of their channel. As in floatOps, float32 is exact enough.
func prelu(s *step) (runner, int) {
	return &floatBinary{walk: channels(s), op: func(dst, x, alpha []float32) {
		for i := range dst {
			if dst[i] = x[i]; x[i] < 0 {
				dst[i] = alpha[i] * x[i]
			}
		}
	}}, 3 * chunk
}

// softplusParametric is alpha * softplus(beta * x), with two numbers for each channel.
func softplusParametric(s *step) (runner, int) {
	return &channelSoftplus{walk: channels(s), dtype: s.out[0].dtype}, 3 * chunk
}

type channelSoftplus struct {
	walk  walk
	dtype mil.DType
}

func (r *channelSoftplus) run(c *call) { c.spread(r.walk.total, r.element()) }

func (*channelSoftplus) element() int { return 8 }

func (r *channelSoftplus) span(c *call, lo, hi, worker int) {
	work := c.work[worker]
	x := work[:chunk]
	alpha := feed{room: work[chunk : 2*chunk], v: &c.in[1], step: r.walk.ystep}
	beta := feed{room: work[2*chunk : 3*chunk], v: &c.in[2], step: r.walk.ystep}
	for lo < hi && !c.pause(worker) {
		_, channel, n := r.walk.at(lo)
		n = min(n, hi-lo, chunk)
		c.in[0].load(x[:n], lo)
		a, b := alpha.next(channel, n), beta.next(channel, n)
		for i, v := range x[:n] {
			x[i] = narrow(r.dtype, float64(a[i])*softplus(float64(b[i])*float64(v)))
		}
		c.out[0].store(x[:n], lo)
		lo += n
	}
}
