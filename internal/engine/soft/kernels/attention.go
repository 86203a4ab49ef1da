package kernels

import (
	"math"
	"slices"

	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/soft/internal/gemm"
	"github.com/anekit/anekit/internal/engine/soft/internal/halves"
	"github.com/anekit/anekit/internal/engine/soft/matrix"
	"github.com/anekit/anekit/internal/engine/soft/run"
	"github.com/anekit/anekit/internal/ops"
)

// attention computes softmax(query x key^T / sqrt(E) + mask) x value for some rows of query at a time. Products are
// float32, the softmax float64; the result is rounded once. Where vectors may round otherwise, math.Exp decides.
//
// A chip computes these operators (inferred), each rounded to fp16: the product with key, times 1/sqrt(E), plus the
// mask, softmax, times value. A bool mask adds -infinity, which is the number -65536.
func attention(s *Step) (run.Runner, int) {
	a := s.Attrs.(ops.Attention)
	r := &attender{Attention: a, dtype: s.Out[0].DType, query: newOperand(s, 0, a.L, a.E, false, true),
		key: newOperand(s, 1, a.E, a.S, true, false), value: newOperand(s, 2, a.S, a.EV, false, false),
		byQuery: repeated(a.Batch, a.BatchQuery), byKey: repeated(a.Batch, a.BatchKey),
		byValue: repeated(a.Batch, a.BatchValue), penalty: float32(math.Inf(-1)), exp: math.Exp}
	r.rows, r.piece = min(a.L, tileRows, max(panelA/max(a.E, a.S, a.EV), 1)), max(run.Chunk/a.S, 1)
	if s.In[3].Given {
		r.piece, r.byMask = 1, repeated(slices.Concat(a.Batch, []int{a.L, a.S}), s.In[3].Shape)
	}
	if r.strips = s.inStrips(r.rows); r.strips { // tiles of 6 rows, so that the scores stay in a second-level cache
		r.rows = min(a.L, stripRows, max(2*stripsB/a.S/6, 4)*6)
	}
	r.key.InStrips, r.value.InStrips = r.strips, r.strips
	s.decode(&r.key)
	s.decode(&r.value)
	r.inKeys, r.inValues, r.spare = a.E*a.S, a.S*a.EV, max(a.E, a.S, a.L)
	if r.strips {
		r.inKeys, r.inValues = gemm.InStrips(a.E, a.S), gemm.InStrips(a.S, a.EV)
		r.spare = max(r.spare, r.key.Room(matrix.Depth))
	}
	work := r.inKeys + r.inValues + r.rows*(a.E+a.S+a.EV) + r.spare
	rules := s.chip()
	if !inSteps(rules) {
		r.quick = rules == 0 && r.dtype == mil.FP16 && halves.QuickWeights()
		return r, work
	}
	r.sums, r.penalty = newSums(rules), rules.Value(fp16.Inf|1<<15)
	r.exp, r.inverse = r.sums.function("exp", math.Exp), r.sums.function("inverse", functions["inverse"](ops.Unary{}))
	if rules.Defines("exp") {
		r.table = s.expTable(ops.Volume(r.Batch) * r.L * r.S)
		r.exp = func(x float64) float64 {
			return float64(rules.Value(r.table.Value(fp16.FromFloat32(float32(x)))))
		}
	}
	return r, work + max(r.sums.room(r.rows, r.E, r.S), r.sums.room(r.rows, r.S, r.EV))
}

type attender struct {
	ops.Attention
	dtype                   mil.DType
	query, key, value       matrix.Operand
	byQuery, byKey, byValue []int // strides in matrices along the batch axes
	byMask                  []int // strides in elements along the axes of the scores; nil without a mask
	penalty                 float32
	rows, piece             int  // of query at a time, for products and for weights
	strips, quick           bool // key and value are in strips; without math.Exp
	inKeys, inValues, spare int  // float32s of a key, of a value, and for decoding them

	sums    sums // with the rules of a chip
	exp     func(x float64) float64
	table   *halves.Table           // of a chip's exp, unless it is computed exactly
	inverse func(x float64) float64 // of a chip
}

func (r *attender) reads() *halves.Table { return r.table }

func (r *attender) tiles() int { return (r.L + r.rows - 1) / r.rows }

func (r *attender) Run(c *run.Call) {
	c.Spread(ops.Volume(r.Batch)*r.tiles(), r.rows*r.S*(r.E+r.EV+8))
}

// Span computes tiles lo to hi of rows. Those of one batch share key and value.
func (r *attender) Span(c *run.Call, lo, hi, worker int) {
	work := roomOf(c, worker)
	keys, values, queries := work.take(r.inKeys), work.take(r.inValues), work.take(r.rows*r.E)
	scores, out, spare := work.take(r.rows*r.S), work.take(r.rows*r.EV), work.take(r.spare)
	var k, v []float32
	filled := -1
	for i := lo; i < hi && !c.Pause(worker); i++ {
		batch, m0 := i/r.tiles(), i%r.tiles()*r.rows
		n := min(m0+r.rows, r.L) - m0
		if batch != filled {
			k = r.operand(c, &r.key, keys, spare, offset(batch, r.Batch, r.byKey))
			v = r.operand(c, &r.value, values, spare, offset(batch, r.Batch, r.byValue))
			filled = batch
		}
		q := r.query.Block(c, queries[:n*r.E], spare, offset(batch, r.Batch, r.byQuery), m0, m0+n, 0, r.E)
		scores, out := scores[:n*r.S], out[:n*r.EV]
		r.mul(scores, q, k, r.E, r.S, work)
		var sums [stripRows]float64
		for m := 0; m < n; {
			if m > 0 && c.Pause(worker) {
				return
			}
			some, done := min(n-m, r.piece), 0
			if r.quick {
				mask, scale := r.penalties(c, spare[:r.S], batch, m0+m), 1/math.Sqrt(float64(r.E))
				if done = halves.Weights(sums[m:m+some], scores[m*r.S:][:some*r.S], mask, scale); done < some {
					r.mul(scores[(m+done)*r.S:][:r.S], q[(m+done)*r.E:][:r.E], k, r.E, r.S, work)
					some = done + 1
				}
			}
			for ; done < some; done++ {
				sums[m+done] = r.weigh(c, scores[(m+done)*r.S:][:r.S], spare[:r.S], batch, m0+m+done)
			}
			m += some
		}
		r.mul(out, scores, v, r.S, r.EV, work)
		for m := range n {
			row, at := out[m*r.EV:][:r.EV], (batch*r.L+m0+m)*r.EV
			if r.quick {
				if halves.Quotients(c.Out[0].Half[at:at+r.EV], row, sums[m], r.S) {
					continue
				}
				again := scores[m*r.S:][:r.S]
				r.mul(again, q[m*r.E:][:r.E], k, r.E, r.S, work)
				sums[m] = r.weigh(c, again, spare[:r.S], batch, m0+m)
			}
			for j, f := range row {
				row[j] = narrow(r.dtype, float64(f)/sums[m])
			}
			c.Out[0].Store(row, at)
		}
	}
}

// operand decodes a matrix of key or value.
func (r *attender) operand(c *run.Call, o *matrix.Operand, dst, spare []float32, at int) []float32 {
	if r.strips {
		strips, _ := o.Strips(&c.In[o.Index], dst, spare, at, 0, o.Rows, 0, o.Cols)
		return strips
	}
	return o.Block(c, dst, spare, at, 0, o.Rows, 0, o.Cols)
}

// mul multiplies rows of k elements by a matrix of n columns.
func (r *attender) mul(out, rows, by []float32, k, n int, work room) {
	if r.strips {
		gemm.MulStrips(out, rows, k, by, gemm.Pitch(k), len(rows)/k, n, k, false)
		return
	}
	r.sums.mul(out, rows, by, nil, k, n, work)
}

// weigh turns the products of a row of query into weights, and returns the divisor of the result. It is 1 for a chip,
// whose weights are complete, otherwise the sum of the weights, which are exponentials.
func (r *attender) weigh(c *run.Call, scores, spare []float32, batch, row int) float64 {
	spare = r.penalties(c, spare, batch, row)
	scale := r.sums.round(1 / math.Sqrt(float64(r.E)))
	at := func(j int) float64 {
		product := r.sums.round(float64(float64(scores[j]) * scale))
		if r.byMask == nil {
			return product
		}
		return r.sums.round(product + float64(spare[j]))
	}
	top, sum := math.Inf(-1), 0.0
	for j := range scores {
		top = max(top, at(j))
	}
	for j := range scores {
		e := r.exp(r.sums.round(at(j) - top))
		scores[j] = float32(e)
		sum += e
	}
	if r.sums.rules == 0 {
		return sum
	}
	by := r.inverse(r.sums.half(sum))
	for j, f := range scores {
		scores[j] = float32(r.sums.half(float64(f) * by))
	}
	return 1
}

// penalties decodes what a row of the mask adds to the scores: for bool 0 or the penalty. It returns dst, or nil.
func (r *attender) penalties(c *run.Call, dst []float32, batch, row int) []float32 {
	last := len(r.byMask) - 1
	if last < 0 {
		return nil
	}
	at := offset(batch, r.Batch, r.byMask) + row*r.byMask[last-1]
	mask, step, n := &c.In[3], r.byMask[last], len(dst)
	if step == 0 {
		n = 1
	}
	if mask.DType == mil.Bool {
		for j := range n {
			dst[j] = 0
			if mask.Raw[at+j] == 0 {
				dst[j] = r.penalty
			}
		}
	} else {
		mask.Load(dst[:n], at)
	}
	fill(dst[n:], dst[0])
	return dst
}
