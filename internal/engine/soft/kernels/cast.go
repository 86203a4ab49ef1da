package kernels

import (
	"math"

	"github.com/anekit/anekit/internal/element"
	"github.com/anekit/anekit/internal/engine/soft/run"
)

// cast converts elements: between floats exactly or with one rounding, to
// integers toward zero with clamping, to bool as x != 0.
func cast(s *Step) (run.Runner, int) { return &caster{}, run.Chunk }

type caster struct{}

func (r *caster) Run(c *run.Call) { c.Spread(c.Out[0].Len(), r.Element()) }

func (*caster) Element() int { return 2 }

func (r *caster) Span(c *run.Call, lo, hi, worker int) {
	in, out := &c.In[0], &c.Out[0]
	if in.DType == out.DType {
		n := element.Size(in.DType)
		copy(out.Raw[lo*n:hi*n], in.Raw[lo*n:])
		return
	}
	floats := (in.Half != nil || in.Single != nil) && (out.Half != nil || out.Single != nil)
	from, to := element.Size(in.DType), element.Size(out.DType)
	for ; lo < hi && !c.Pause(worker); lo += run.Chunk {
		n := min(run.Chunk, hi-lo)
		if floats {
			x := c.Work[worker][:n]
			in.Load(x, lo)
			out.Store(x, lo)
			continue
		}
		switch x := c.Work[worker][:n]; {
		case in.Ints != nil && (out.Half != nil || out.Single != nil) && out.Rules == 0:
			for i, v := range in.Ints[lo : lo+n] {
				x[i] = narrow(out.DType, float64(v))
			}
			out.Store(x, lo)
			continue
		case (in.Half != nil || in.Single != nil) && in.Rules == 0 && out.Ints != nil:
			in.Load(x, lo)
			for i, v := range x {
				out.Ints[lo+i] = truncated(v)
			}
			continue
		}
		for i := lo; i < lo+n; i++ {
			element.Store(out.DType, out.Raw[i*to:], element.Load(in.DType, in.Raw[i*from:]))
		}
	}
}

// truncated is v toward zero, the nearest int32 if it is none, and 0 for NaN.
func truncated(v float32) int32 {
	switch {
	case v >= math.MaxInt32:
		return math.MaxInt32
	case v >= math.MinInt32:
		return int32(v)
	case v != v:
		return 0
	}
	return math.MinInt32
}
