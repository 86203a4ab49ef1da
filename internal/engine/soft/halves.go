package soft

import (
	"math"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/soft/internal/halves"
	"github.com/anekit/anekit/internal/ops"
)

// These runners compute on halves in one pass. Their results are those of the runners through float32.

// halved reports whether a step reads and writes halves by the rules of the reference.
func (s *step) halved() bool {
	return s.arith.operand == 0 && s.arith.result == 0 && s.in[0].dtype == mil.FP16 && s.out[0].dtype == mil.FP16
}

// halfStretch is how many halves a runner takes between two looks at the context.
const halfStretch = 16 * chunk

// halfOps are the operators that package halves has.
var halfOps = map[string]halves.Op{"add": halves.Add, "sub": halves.Sub, "mul": halves.Mul, "real_div": halves.Div,
	"maximum": halves.Max, "minimum": halves.Min}

// halfBinary is an operator on two tensors.
type halfBinary struct {
	walk walk
	op   halves.Op
}

func (r *halfBinary) run(c *call) { c.spread(r.walk.total, r.element()) }

func (*halfBinary) element() int { return 1 }

func (r *halfBinary) span(c *call, lo, hi, worker int) {
	w := &r.walk
	x, y, out := c.in[0].half, c.in[1].half, c.out[0].half
	for lo < hi && !c.pause(worker) {
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

func (r *halfClamp) run(c *call) { c.spread(c.out[0].len(), r.element()) }

func (*halfClamp) element() int { return 1 }

func (r *halfClamp) span(c *call, lo, hi, worker int) {
	for ; lo < hi && !c.pause(worker); lo += halfStretch {
		end := min(lo+halfStretch, hi)
		x, out := c.in[0].half[lo:end], c.out[0].half[lo:end]
		if r.abs {
			halves.Abs(out, x)
			continue
		}
		halves.Clamp(out, x, r.low, r.high, r.payload)
	}
}

// clamp returns the runner of an operator that limits each element or takes its magnitude, or nil for another.
// Rounding keeps order, so that the limits may be rounded instead of the result.
func (s *step) clamp(u ops.Unary) runner {
	between := func(low, high float64) runner {
		if low != low || high != high {
			return nil
		}
		return &halfClamp{low: fp16.FromFloat64(low), high: fp16.FromFloat64(high)}
	}
	switch s.op {
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
