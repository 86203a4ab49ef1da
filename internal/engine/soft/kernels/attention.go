package kernels

import (
	"math"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/soft/internal/gemm"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/numerics"
	"github.com/anekit/anekit/internal/ops"
)

// attention computes softmax(query x key^T / sqrt(E) + mask) x value for some rows of
// query at a time. Products are float32, the softmax float64; the result is rounded once.
//
// A chip's attention is a sequence of operators (inferred), each result rounded to fp16: the product with key, times
// 1/sqrt(E), plus the mask, softmax, the product with value. A bool mask adds -infinity, which is the number -65536.
func attention(s *Step) (run.Runner, int) {
	a := s.Attrs.(ops.Attention)
	r := &attender{Attention: a, dtype: s.Out[0].DType, query: newOperand(s, 0, a.L, a.E, false),
		key: newOperand(s, 1, a.E, a.S, true), value: newOperand(s, 2, a.S, a.EV, false),
		byQuery: repeated(a.Batch, a.BatchQuery), byKey: repeated(a.Batch, a.BatchKey),
		byValue: repeated(a.Batch, a.BatchValue), mask: s.In[3].DType}
	if s.In[3].Given {
		full := append(append([]int{}, a.Batch...), a.L, a.S)
		r.byMask = repeated(full, s.In[3].Shape)
	}
	r.rows = min(a.L, tileRows, max(panelA/max(a.E, a.S, a.EV), 1))
	room := a.E*a.S + a.S*a.EV + r.rows*(a.E+a.S+a.EV) + max(a.E, a.S, a.L)
	rules := s.chip()
	if !inSteps(rules) {
		return r, room
	}
	r.rules, r.scores, r.result = rules, newMultiply(r.rows, r.E, r.S, rules), newMultiply(r.rows, r.S, r.EV, rules)
	r.exp, r.inverse = chipFunction(rules, "exp", math.Exp), chipFunction(rules, "inverse", inverted)
	r.scale = float64(r.scores.half(1 / math.Sqrt(float64(r.E))))
	if rules.Defines("exp") {
		if r.table = s.expTable(ops.Volume(r.Batch) * r.L * r.S); r.table != nil {
			r.exp = func(x float32) float32 { return rules.Value(r.table.values[fp16.FromFloat32(x)]) }
		}
	}
	return r, room + max(r.scores.room(), r.result.room())
}

func inverted(x float64) float64 { return 1 / x }

type attender struct {
	ops.Attention
	dtype                   mil.DType
	query, key, value       operand
	byQuery, byKey, byValue []int // strides in matrices along the batch axes
	mask                    mil.DType
	byMask                  []int // strides in elements along the axes of the scores; nil without a mask
	rows                    int   // of query at a time

	rules          numerics.Rules // of a chip, or 0:
	scores, result multiply
	scale          float64
	table          *table // of exp; nil in a step of few elements
	exp, inverse   func(x float32) float32
}

func (r *attender) tiles() int { return (r.L + r.rows - 1) / r.rows }

func (r *attender) Run(c *run.Call) {
	r.table.make()
	c.Spread(ops.Volume(r.Batch)*r.tiles(), r.rows*r.S*(r.E+r.EV+8))
}

// Span computes tiles lo to hi of rows. Those of one batch share key and value.
func (r *attender) Span(c *run.Call, lo, hi, worker int) {
	rest := c.Work[worker]
	take := func(n int) (part []float32) { part, rest = rest[:n:n], rest[n:]; return part }
	keys, values, queries := take(r.E*r.S), take(r.S*r.EV), take(r.rows*r.E)
	scores, out, spare := take(r.rows*r.S), take(r.rows*r.EV), take(max(r.E, r.S, r.L))
	var ints []int32
	if r.rules != 0 {
		ints = c.Words[worker][len(c.Work[worker])-len(rest):]
	}
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
		scores, out := scores[:n*r.S], out[:n*r.EV]
		if r.rules != 0 {
			r.scores.mul(scores, q, k, nil, rest, ints)
			for m := range n {
				if c.Pause(worker) {
					return
				}
				r.weighInSteps(c, scores[m*r.S:][:r.S], spare[:r.S], batch, m0+m)
			}
			r.result.mul(out, scores, v, nil, rest, ints)
		} else {
			gemm.Mul(scores, q, k, n, r.E, r.S)
			var sums [tileRows]float64
			for m := range n {
				sums[m] = r.weigh(c, scores[m*r.S:][:r.S], spare[:r.S], batch, m0+m)
			}
			gemm.Mul(out, scores, v, n, r.S, r.EV)
			for j, f := range out {
				out[j] = narrow(r.dtype, float64(f)/sums[j/r.EV])
			}
		}
		c.Out[0].Store(out, (batch*r.L+m0)*r.EV)
	}
}

// weigh turns the scores of a row of query into their exponentials, and returns the sum
// of these.
func (r *attender) weigh(c *run.Call, scores, spare []float32, batch, row int) float64 {
	scale := 1 / math.Sqrt(float64(r.E))
	masked := r.byMask != nil
	if masked {
		r.penalties(c, spare, batch, row)
	}
	top := math.Inf(-1)
	at := func(j int) float64 {
		f := float64(scores[j]) * scale
		if masked {
			f += float64(spare[j])
		}
		return f
	}
	for j := range scores {
		top = max(top, at(j))
	}
	sum := 0.0
	for j := range scores {
		e := math.Exp(at(j) - top)
		scores[j] = float32(e)
		sum += e
	}
	return sum
}

// penalties decodes what a row of the mask adds to the scores: for bool 0 or -inf.
func (r *attender) penalties(c *run.Call, dst []float32, batch, row int) {
	last := len(r.byMask) - 1
	at := offset(batch, r.Batch, r.byMask) + row*r.byMask[last-1]
	mask, step := &c.In[3], r.byMask[last]
	n := len(dst)
	if step == 0 {
		n = 1
	}
	if r.mask == mil.Bool {
		for j := range n {
			dst[j] = 0
			if mask.Raw[at+j] == 0 {
				dst[j] = float32(math.Inf(-1))
			}
		}
	} else {
		mask.Load(dst[:n], at)
	}
	for j := n; j < len(dst); j++ {
		dst[j] = dst[0]
	}
}

// weighInSteps turns a row of products into weights.
func (r *attender) weighInSteps(c *run.Call, scores, spare []float32, batch, row int) {
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
