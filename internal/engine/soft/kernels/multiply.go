package kernels

import (
	"math"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/internal/engine/soft/internal/gemm"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/numerics"
	"github.com/anekit/anekit/internal/ops"
)

// multiply is a product inside of an operator, as a chip computes it: m x k by k x n, with numbers that are halves.
type multiply struct{ fixed }

func newMultiply(m, k, n int, r numerics.Rules) multiply {
	p := multiply{fixed{product: product{rows: m, k: k, cols: n}, rules: r, float: !r.Has(numerics.ProductRounding),
		how: gemm.Exact}}
	if r.Has(numerics.Fours) {
		p.how = gemm.Fours
	}
	return p
}

// room is the float32s that mul needs; its int32s are the same memory, or other memory of that length.
func (p *multiply) room() int { return 2 * p.padded() * (p.k + p.cols) }

// mul sets out to a times b, where bias, unless nil, is one row that is added. a has as many rows as out, at most m.
func (p *multiply) mul(out, a, b, bias, floats []float32, ints []int32) {
	products := p.padded() * p.k
	half := p.room() / 2
	t := tileOf{scaled: floats[:products], sizes: floats[products:half], least: ints[half:][:products],
		sums: ints[half+products:]}
	e := elements{fixed: &p.fixed, a: a, b: b, n: p.cols, bias: bias}
	if p.float {
		for j := range out {
			out[j] = e.value(j)
		}
	} else {
		e.t = &t
		far := distance{}
		far.tile(&e, out, len(a)/p.k)
	}
	for j, f := range out {
		out[j] = p.half(float64(f))
	}
}

// half is f rounded to fp16, as the number that the next step of the operator reads.
func (p *multiply) half(f float64) float32 { return p.rules.Value(p.rules.Round(f)) }

// chipFunction returns a function of a half as a chip has it, or exactly if the rules lack tables.
func chipFunction(r numerics.Rules, op string, exact func(x float64) float64) func(x float32) float32 {
	if r.Defines(op) {
		return func(x float32) float32 {
			h, _ := r.Unary(op, fp16.FromFloat32(x), 0) // x is a half, or 65536 and more, which is infinite
			return r.Value(h)
		}
	}
	return func(x float32) float32 { return r.Value(r.Round(exact(float64(x)))) }
}

// chipSoftmax is softmax of a row of halves as a chip's sequence of operators: see stepped.
func chipSoftmax(r numerics.Rules, row []float32, exp, inverse func(x float32) float32) {
	top, sum := float32(math.Inf(-1)), 0.0
	for _, v := range row {
		top = max(top, v)
	}
	for j, v := range row {
		row[j] = exp(r.Value(r.Round(float64(v) - float64(top))))
		sum += float64(row[j])
	}
	by := float64(inverse(r.Value(r.Round(sum))))
	for j, v := range row {
		row[j] = r.Value(r.Round(float64(v) * by))
	}
}

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
