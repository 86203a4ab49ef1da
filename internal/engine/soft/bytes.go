package soft

import (
	"bytes"
	"math"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/soft/internal/gemm"
	"github.com/anekit/anekit/internal/numerics"
	"github.com/anekit/anekit/internal/ops"
)

// byteWindow are the settings of a convolution of int8 elements with int8 weights. Its operands are those, the
// bias, the scale of x and the scales of the weights: one, or one for each output channel.
type byteWindow struct{ ops.Window }

// sumBytes returns g with each convolution of dequantized int8 values by int8 weights as one of integers, as a
// chip computes it (rule Int8Sums). Both have scales only, no zero point, whose effect is unmeasured.
func sumBytes(g *ops.Graph) *ops.Graph {
	from := map[*ops.Value]*ops.Node{}
	for _, n := range g.Nodes {
		for _, v := range n.Out {
			from[v] = n
		}
	}
	changed := *g
	changed.Nodes = nil
	for _, n := range g.Nodes {
		changed.Nodes = append(changed.Nodes, integers(n, from))
	}
	return &changed
}

// integers returns the convolution of integers that n computes, or n.
func integers(n *ops.Node, from map[*ops.Value]*ops.Node) *ops.Node {
	w, ok := n.Attrs.(ops.Window)
	if !ok || n.Def.Name != "conv" || n.Out[0].DType != mil.FP16 {
		return n
	}
	x, weight := from[n.In[0]], from[n.In[1]]
	if x == nil || weight == nil || x.Def.Name != "dequantize" ||
		weight.Def.Name != "constexpr_blockwise_shift_scale" || !plainBytes(x) || !plainBytes(weight) {
		return n
	}
	scale, outputs := weight.In[1], n.Out[0].Shape[1]
	each := scale.Elements() == outputs && scale.Shape[0] == outputs
	if x.In[1].Elements() != 1 || scale.Elements() != 1 && !each {
		return n
	}
	made := *n
	made.In = []*ops.Value{x.In[0], weight.In[0], n.In[2], x.In[1], scale}
	made.Attrs = byteWindow{w}
	return &made
}

// plainBytes reports whether a dequantization is of int8 and has no zero point but 0.
func plainBytes(n *ops.Node) bool {
	zero := n.In[2]
	return n.In[0].DType == mil.Int8 &&
		(zero == nil || zero.Data != nil && len(bytes.Trim(zero.Data, "\x00")) == 0)
}

// scales are panels of integers: scaleOf returns the product of the scales of a row.
type scales interface {
	scaleOf(c *call, batch, m int) float64
}

// scaleOf implements scales.
func (p *windows) scaleOf(c *call, batch, m int) float64 {
	each := batch%p.win.Groups*p.outputs + m
	if c.in[4].len() == 1 {
		each = 0
	}
	return c.in[3].value(0) * c.in[4].value(each)
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
