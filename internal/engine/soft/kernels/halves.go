package kernels

import (
	"math"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/soft/internal/halves"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
)

// These runners compute on halves in one pass. Their results are those of the runners through float32.

// halved reports whether a step reads and writes halves by the rules of the reference.
func (s *Step) halved() bool {
	return s.Arith.Operand == 0 && s.Arith.Result == 0 && s.In[0].DType == mil.FP16 && s.Out[0].DType == mil.FP16
}

// halfStretch is how many halves a runner takes between two looks at the context.
const halfStretch = 16 * run.Chunk

// halfOps are the operators that package halves has.
var halfOps = map[string]halves.Op{"add": halves.Add, "sub": halves.Sub, "mul": halves.Mul, "real_div": halves.Div,
	"maximum": halves.Max, "minimum": halves.Min}

// halfBinary is an operator on two tensors.
type halfBinary struct {
	walk walk
	op   halves.Op
}

func (r *halfBinary) Run(c *run.Call) { c.Spread(r.walk.total, r.Element()) }

func (*halfBinary) Element() int { return 1 }

func (r *halfBinary) Span(c *run.Call, lo, hi, worker int) {
	w := &r.walk
	x, y, out := c.In[0].Half, c.In[1].Half, c.Out[0].Half
	for lo < hi && !c.Pause(worker) {
		xat, yat, n := w.at(lo)
		n = min(n, hi-lo, halfStretch)
		halves.Binary(r.op, out[lo:lo+n], x[xat:xat+(n-1)*w.xstep+1], y[yat:yat+(n-1)*w.ystep+1])
		lo += n
	}
}

// halfClamp limits each element, or takes its magnitude.
type halfClamp struct {
	abs, payload bool
	low, high    fp16.Bits
}

func (r *halfClamp) Run(c *run.Call) { c.Spread(c.Out[0].Len(), r.Element()) }

func (*halfClamp) Element() int { return 1 }

func (r *halfClamp) Span(c *run.Call, lo, hi, worker int) {
	for ; lo < hi && !c.Pause(worker); lo += halfStretch {
		end := min(lo+halfStretch, hi)
		x, out := c.In[0].Half[lo:end], c.Out[0].Half[lo:end]
		if r.abs {
			halves.Abs(out, x)
			continue
		}
		halves.Clamp(out, x, r.low, r.high, r.payload)
	}
}

// clamp returns the runner of an operator that limits each element or takes its magnitude, or nil for another.
// Rounding keeps order, so that the limits may be rounded instead of the result.
func (s *Step) clamp(u ops.Unary) run.Runner {
	between := func(low, high float64) run.Runner {
		if low != low || high != high {
			return nil
		}
		return &halfClamp{low: fp16.FromFloat64(low), high: fp16.FromFloat64(high)}
	}
	switch s.Op {
	case "abs":
		return &halfClamp{abs: true}
	case "relu":
		return &halfClamp{high: fp16.Inf, payload: true}
	case "relu6":
		return between(0, 6)
	case "clip":
		return between(u.Alpha, u.Beta)
	case "threshold":
		return between(u.Alpha, math.Inf(1))
	}
	return nil
}
