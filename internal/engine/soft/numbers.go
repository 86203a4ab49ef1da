package soft

import (
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/soft/internal/numbers"
	"github.com/anekit/anekit/internal/numerics"
)

// numberOps are the operators that package numbers has.
var numberOps = map[string]numbers.Op{"add": numbers.Add, "sub": numbers.Sub, "mul": numbers.Mul,
	"real_div": numbers.Div, "maximum": numbers.Max, "minimum": numbers.Min}

// numbers reports whether package numbers has the operator under the rules of the step.
func (s *step) numbers() bool {
	_, ok := numberOps[s.op]
	return ok && s.arith.operand.Has(numerics.Exponent31) && s.in[0].dtype == mil.FP16 && s.in[1].dtype == mil.FP16
}

// numberBinary is an operator on two tensors of halves in one pass. Its results are those of floatBinary.
type numberBinary struct {
	walk walk
	op   numbers.Op
	away bool
}

func (r *numberBinary) run(c *call) { c.spread(r.walk.total, r.element()) }

func (*numberBinary) element() int { return 2 }

func (r *numberBinary) span(c *call, lo, hi, worker int) {
	w := &r.walk
	x, y, out := c.in[0].half, c.in[1].half, c.out[0].half
	for lo < hi && !c.pause(worker) {
		xat, yat, n := w.at(lo)
		n = min(n, hi-lo, halfStretch)
		numbers.Binary(r.op, out[lo:lo+n], x[xat:xat+(n-1)*w.xstep+1], y[yat:yat+(n-1)*w.ystep+1], r.away)
		lo += n
	}
}
