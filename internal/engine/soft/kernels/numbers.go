package kernels

import (
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/soft/internal/numbers"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/numerics"
)

// numberOps are the operators that package numbers has.
var numberOps = map[string]numbers.Op{"add": numbers.Add, "sub": numbers.Sub, "mul": numbers.Mul,
	"real_div": numbers.Div, "maximum": numbers.Max, "minimum": numbers.Min}

// numbers reports whether package numbers has the operator under the rules of the step.
func (s *Step) numbers() bool {
	_, ok := numberOps[s.Op]
	return ok && s.Arith.Operand.Has(numerics.Exponent31) && s.In[0].DType == mil.FP16 && s.In[1].DType == mil.FP16
}

// numberBinary is an operator on two tensors of halves in one pass. Its results are those of floatBinary.
type numberBinary struct {
	walk walk
	op   numbers.Op
	away bool
}

func (r *numberBinary) Run(c *run.Call) { c.Spread(r.walk.total, r.Element()) }

func (*numberBinary) Element() int { return 2 }

func (r *numberBinary) Span(c *run.Call, lo, hi, worker int) {
	w := &r.walk
	x, y, out := c.In[0].Half, c.In[1].Half, c.Out[0].Half
	for lo < hi && !c.Pause(worker) {
		xat, yat, n := w.at(lo)
		n = min(n, hi-lo, halfStretch)
		numbers.Binary(r.op, out[lo:lo+n], x[xat:xat+(n-1)*w.xstep+1], y[yat:yat+(n-1)*w.ystep+1], r.away)
		lo += n
	}
}
