package kernels

import (
	"math"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft/internal/halves"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
)

// batchNorm subtracts the given mean of each channel of x [N, C, *D], divides by the
// given deviation, multiplies by gamma and adds beta, in float64.
func batchNorm(s *Step) (run.Runner, int) {
	x, d, epsilon := s.In[0].Shape, s.Out[0].DType, s.Attrs.(ops.Norm).Epsilon
	channels, plane := x[1], ops.Volume(x[2:])
	if s.halved() {
		return halfBatchNormer(s.Out[0].len(), channels, plane, epsilon), 0
	}
	return newLoop(s.Out[0].len(), 2, s.Out[0].len(), func(c *run.Call, lo, hi, worker int) {
		for lo < hi && !c.Pause(worker) {
			p := batchParams(c, lo/plane%channels)
			scale := 1 / math.Sqrt(float64(p[1])+epsilon)
			x := c.Work[worker][:min(plane-lo%plane, hi-lo, run.Chunk)]
			c.In[0].Load(x, lo)
			for i, v := range x {
				x[i] = narrow(d, float64((float64(v)-float64(p[0]))*scale*float64(p[2]))+float64(p[3]))
			}
			c.Out[0].Store(x, lo)
			lo += len(x)
		}
	}), run.Chunk
}

// batchParams returns mean, variance, gamma and beta of a channel.
func batchParams(c *run.Call, channel int) [4]float32 {
	p := [4]float32{2: 1}
	for i := range p {
		if v := &c.In[1+i]; v.Raw != nil {
			v.Load(p[i:i+1], channel)
		}
	}
	return p
}

// halfBatchNormer is batchNorm for n halves.
func halfBatchNormer(n, channels, plane int, epsilon float64) run.Runner {
	return newLoop(n, 2, n, func(c *run.Call, lo, hi, worker int) {
		var repeated normParams
		var change halves.Scaled
		for loaded := -1; lo < hi && !c.Pause(worker); {
			if channel := lo / plane % channels; channel != loaded {
				p := batchParams(c, channel)
				change, loaded = halves.NewScaled(float64(p[0]), 1/math.Sqrt(float64(p[1])+epsilon)), channel
				fillHalves(&repeated.gamma, fp16.FromFloat32(p[2]))
				fillHalves(&repeated.beta, fp16.FromFloat32(p[3]))
			}
			n := min(plane-lo%plane, hi-lo, run.Chunk)
			change.Normalize(c.Out[0].Half[lo:lo+n], c.In[0].Half[lo:lo+n], repeated.gamma[:n], repeated.beta[:n])
			lo += n
		}
	})
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
