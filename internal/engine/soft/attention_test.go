package soft_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/effort"
)

// broadcastAt reads a at index i of a shape that a broadcasts to.
func (a nd) broadcastAt(i []int) float64 {
	j := slices.Clone(i[len(i)-len(a.shape):])
	for k := range j {
		if a.shape[k] == 1 {
			j[k] = 0
		}
	}
	return a.at(j...)
}

// attentionCase follows the definition in float64. bound is the error of two float32
// sums.
func attentionCase(batch [3][]int, full []int, l, s, e, ev int, q, k, v, mask nd) (operation, func(_, i int,
	w float64) float64) {
	want := zeros(q.d, append(slices.Clone(full), l, ev)...)
	allowed := make([]float64, len(want.v))
	at := func(a nd, i []int, row, col int) float64 { return a.broadcastAt(append(slices.Clone(i), row, col)) }
	each(append(slices.Clone(full), l), func(i []int) {
		b, row := i[:len(i)-1], i[len(i)-1]
		scores, top, errors := make([]float64, s), math.Inf(-1), 0.0
		for j := range s {
			mass := 0.0
			for c := range e {
				p := at(q, b, row, c) * at(k, b, j, c)
				scores[j] += p
				mass += math.Abs(p)
			}
			scores[j] /= math.Sqrt(float64(e))
			errors = max(errors, mass*float64(e+1)*0x1p-24)
			if mask.v != nil {
				m := mask.broadcastAt(append(slices.Clone(b), row, j))
				switch {
				case mask.d != mil.Bool:
					scores[j] += m
				case m == 0:
					scores[j] = math.Inf(-1)
				}
			}
			top = max(top, scores[j])
		}
		sum := 0.0
		for j := range scores {
			sum += math.Exp(scores[j] - top)
		}
		for c := range ev {
			f, mass := 0.0, 0.0
			for j := range s {
				p := math.Exp(scores[j]-top) / sum * at(v, b, j, c)
				f += p
				mass += math.Abs(p)
			}
			o := want.index(append(slices.Clone(i), c))
			want.v[o], allowed[o] = f, ulp(q.d, f)+mass*(float64(s+3)*0x1p-24+2*errors)
		}
	})
	o := operation{op: "scaled_dot_product_attention", want: []nd{want},
		in: []operand{{"query", q, false}, {"key", k, false}, {"value", v, false}}}
	if mask.v != nil {
		o.in = append(o.in, operand{"attn_mask", mask, false})
	}
	return o, func(_, i int, _ float64) float64 { return allowed[i] }
}

func randomAttention(r *rand.Rand, d mil.DType, batch [3][]int, full []int, l, s, e, ev, masked int) (operation,
	func(_, i int, w float64) float64) {
	q, k := fill(r, d, append(slices.Clone(batch[0]), l, e)...), fill(r, d, append(slices.Clone(batch[1]), s, e)...)
	v := fill(r, d, append(slices.Clone(batch[2]), s, ev)...)
	var mask nd
	if masked > 0 {
		shape := append(slices.Clone(full), l, s)
		shape = slices.Clone(shape[r.IntN(len(shape)):])
		for i := range len(shape) - 1 {
			if r.IntN(2) == 0 {
				shape[i] = 1
			}
		}
		kind := d
		if masked == 2 {
			kind = mil.Bool
		}
		if mask = fill(r, kind, shape...); masked == 2 {
			for i := 0; i < len(mask.v); i += shape[len(shape)-1] {
				mask.v[i] = 1 // no row without any element
			}
		}
	}
	return attentionCase(batch, full, l, s, e, ev, q, k, v, mask)
}

func TestAttention(t *testing.T) {
	effort.SkipShort(t)
	batches := [][4][]int{{{1}, {1}, {1}, {1}}, {{2}, {2}, {2}, {2}}, {{2, 3}, {2, 3}, {2, 3}, {2, 3}},
		{{1, 2, 3}, {1, 2, 3}, {1, 2, 3}, {1, 2, 3}}, {{2, 4}, {2, 1}, {2, 1}, {2, 4}}, {{1}, {3}, {1}, {3}}}
	for _, d := range []mil.DType{mil.FP16, mil.FP32} {
		r := seeded(t)
		for k := range effort.Cases(72) {
			b := batches[k%len(batches)]
			dim := func() int { return []int{1, 2, 3, 7, 8, 31, 33}[r.IntN(7)] }
			o, bound := randomAttention(r, d, [3][]int{b[0], b[1], b[2]}, b[3], dim(), dim(), dim(), dim(), k/6%3)
			for i := range o.in {
				o.in[i].fixed = r.IntN(5) == 0
			}
			o.near(t, bound)
		}
	}
	r := seeded(t)
	o, bound := randomAttention(r, mil.FP16, [3][]int{{2}, {2}, {2}}, []int{2}, 70, 130, 16, 24, 1) // several tiles
	o.near(t, bound)
}

// TestAttentionOfBadRows: a row with NaN or an infinity changes no row beside it, also where their weights are made in
// one call.
func TestAttentionOfBadRows(t *testing.T) {
	r, one := seeded(t), []int{1}
	for _, bad := range [][]int{{0}, {3}, {2, 3, 7}, {1, 4, 5, 10}} {
		q, k, v := fill(r, mil.FP16, 1, 11, 14), fill(r, mil.FP16, 1, 7, 14), fill(r, mil.FP16, 1, 7, 5)
		for i, row := range bad {
			q.v[14*row+i] = []float64{math.NaN(), math.Inf(1), math.Inf(-1)}[i%3]
		}
		o, bound := attentionCase([3][]int{one, one, one}, one, 11, 7, 14, 5, q, k, v, nd{})
		o.near(t, bound)
	}
}

// A row that the mask hides wholly has no softmax. Infinite penalties hide elements.
func TestAttentionMasks(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	q, k := nd{mil.FP16, []int{1, 2, 1}, []float64{0, 0}}, nd{mil.FP16, []int{1, 2, 1}, []float64{1, 1}}
	v := nd{mil.FP16, []int{1, 2, 1}, []float64{4, 8}}
	for _, c := range []struct {
		mask nd
		want []float64
	}{
		{nd{}, []float64{6, 6}},
		{nd{mil.Bool, []int{2, 2}, []float64{1, 0, 0, 0}}, []float64{4, nan}},
		{nd{mil.Bool, []int{2}, []float64{0, 1}}, []float64{8, 8}},
		{nd{mil.Bool, []int{2, 1}, []float64{1, 1}}, []float64{6, 6}},
		{nd{mil.FP16, []int{2, 2}, []float64{-inf, 0, -65504, 0}}, []float64{8, 8}},
		{nd{mil.FP16, []int{1, 1, 2}, []float64{nan, 0}}, []float64{nan, nan}},
	} {
		o := operation{op: "scaled_dot_product_attention", want: []nd{{mil.FP16, []int{1, 2, 1}, c.want}},
			in: []operand{{"query", q, false}, {"key", k, false}, {"value", v, false}}}
		if c.mask.v != nil {
			o.in = append(o.in, operand{"attn_mask", c.mask, false})
		}
		o.exact(t)
	}
}

// TestAttentionOfLargeScores: the exponentials of scores beyond those of float64 do not overflow.
func TestAttentionOfLargeScores(t *testing.T) {
	v := nd{mil.FP16, []int{1, 2, 1}, []float64{4, 8}}
	for _, c := range []struct{ query, first, second, want float64 }{
		{100, 100, 100, 6}, {100, -100, -100, 6}, {100, 100, 0, 4}, {-100, 100, 0, 8}, {100, -100, 0, 8},
	} {
		operation{op: "scaled_dot_product_attention", want: []nd{{mil.FP16, []int{1, 1, 1}, []float64{c.want}}},
			in: []operand{{"query", nd{mil.FP16, []int{1, 1, 1}, []float64{c.query}}, false},
				{"key", nd{mil.FP16, []int{1, 2, 1}, []float64{c.first, c.second}}, false}, {"value", v, false}}}.exact(t)
	}
}
