package kernels

import (
	"math"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/numerics"
	"github.com/anekit/anekit/internal/ops"
)

// steppedAttention is attention as a chip's sequence of operators (inferred), each result rounded to fp16: the
// product with key, times 1/sqrt(E), plus the mask, softmax, the product with value. A bool mask adds -infinity,
// which is the number -65536.
type steppedAttention struct {
	attender
	rules          numerics.Rules
	scores, result multiply
	scale          float64
	table          *table // of exp; nil in a step of few elements
	exp, inverse   func(x float32) float32
}

func newSteppedAttention(s *Step, r *attender, work int) (run.Runner, int) {
	rules := s.Arith.Operand
	a := &steppedAttention{attender: *r, rules: rules, scores: newMultiply(r.rows, r.E, r.S, rules),
		result: newMultiply(r.rows, r.S, r.EV, rules), inverse: chipFunction(rules, "inverse", inverted),
		exp: chipFunction(rules, "exp", math.Exp)}
	a.scale = float64(a.scores.half(1 / math.Sqrt(float64(r.E))))
	if rules.Defines("exp") && ops.Volume(r.Batch)*r.L*r.S >= tabled {
		a.table = s.Arith.Tables.of((&Step{Op: "exp", Attrs: ops.Unary{}, Arith: s.Arith}).key())
		a.exp = func(x float32) float32 { return rules.Value(a.table.values[fp16.FromFloat32(x)]) }
	}
	return a, work + max(a.scores.room(), a.result.room())
}

func inverted(x float64) float64 { return 1 / x }

func (r *steppedAttention) Run(c *run.Call) {
	if r.table != nil {
		rules := r.rules
		r.table.make(func(h fp16.Bits) fp16.Bits {
			y, _ := rules.Unary("exp", h, 0)
			return y
		})
	}
	r.attender.Run(c)
}

// Span is attender's.
func (r *steppedAttention) Span(c *run.Call, lo, hi, worker int) {
	rest, ints := c.Work[worker], c.Words[worker]
	take := func(n int) (part []float32) {
		part, rest, ints = rest[:n:n], rest[n:], ints[n:]
		return part
	}
	keys, values, queries := take(r.E*r.S), take(r.S*r.EV), take(r.rows*r.E)
	scores, out, spare := take(r.rows*r.S), take(r.rows*r.EV), take(max(r.E, r.S, r.L))
	var k, v []float32
	filled := -1
	for i := lo; i < hi && !c.Pause(worker); i++ {
		batch, m0 := i/r.tiles(), i%r.tiles()*r.rows
		n := min(m0+r.rows, r.L) - m0
		if batch != filled {
			k = r.key.block(c, keys, spare, offset(batch, r.Batch, r.byKey), 0, r.E, 0, r.S)
			v = r.value.block(c, values, spare, offset(batch, r.Batch, r.byValue), 0, r.S, 0, r.EV)
			filled = batch
		}
		q := r.query.block(c, queries[:n*r.E], spare, offset(batch, r.Batch, r.byQuery), m0, m0+n, 0, r.E)
		r.scores.mul(scores[:n*r.S], q, k, nil, rest, ints)
		for m := range n {
			if c.Pause(worker) {
				return
			}
			r.weigh(c, scores[m*r.S:][:r.S], spare[:r.S], batch, m0+m)
		}
		r.result.mul(out[:n*r.EV], scores[:n*r.S], v, nil, rest, ints)
		c.Out[0].Store(out[:n*r.EV], (batch*r.L+m0)*r.EV)
	}
}

// weigh turns a row of products into weights.
func (r *steppedAttention) weigh(c *run.Call, scores, spare []float32, batch, row int) {
	for j, f := range scores {
		scores[j] = r.scores.half(float64(f) * r.scale)
	}
	if r.byMask != nil {
		r.penalties(c, spare, batch, row)
		for j, f := range spare {
			if r.mask == mil.Bool && f < 0 {
				f = r.rules.Value(fp16.Inf | 1<<15)
			}
			scores[j] = r.scores.half(float64(scores[j]) + float64(f))
		}
	}
	chipSoftmax(r.rules, scores, r.exp, r.inverse)
}
