package kernels

import (
	"math"

	"github.com/anekit/anekit/internal/engine/soft/internal/gemm"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/numerics"
	"github.com/anekit/anekit/internal/ops"
)

// ByteWindow are the settings of a convolution of int8 elements with int8 weights. Its operands are those, the
// bias, the scale of x and the scales of the weights: one, or one for each output channel.
type ByteWindow struct{ ops.Window }

// scales are panels of integers: scaleOf returns the product of the scales of a row.
type scales interface {
	scaleOf(c *run.Call, batch, m int) float64
}

// scaleOf implements scales.
func (p *windows) scaleOf(c *run.Call, batch, m int) float64 {
	each := batch%p.win.Groups*p.outputs + m
	if c.In[4].Len() == 1 {
		each = 0
	}
	return c.In[3].Value(0) * c.In[4].Value(each)
}

// integer returns element j of a tile of integers, as vec.store takes it.
func (e *elements) integer(j int, scale float64) float32 {
	sum := int64(e.t.sums[j])
	if gemm.Bound(e.t.sizes[j], e.k) >= inRange {
		sum = 0
		for d, f := range e.a[j/e.n*e.k:][:e.k] {
			sum += int64(f) * int64(e.b[d*e.n+j%e.n])
		}
	}
	if e.rules.Has(numerics.Int8Sums) && (sum >= inRange || sum <= -inRange) {
		return float32(math.Inf(int(max(min(sum, 1), -1))))
	}
	return toOdd(float64(float64(sum)*scale) + e.start(j))
}
