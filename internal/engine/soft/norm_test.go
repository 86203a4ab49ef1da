package soft_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/anekit/anekit/ane/mil"
)

// normCase normalises over axes with the biased variance, in two passes in
// float64.
func normCase(r *rand.Rand, x nd, list []int, in []bool, epsilon float64, gamma, beta bool) operation {
	var along []int // the lengths of the normalised axes, in order
	for a, folded := range in {
		if folded {
			along = append(along, x.shape[a])
		}
	}
	mean, variance := zeros(x.d, foldShape(x.shape, in, false)...), zeros(x.d, foldShape(x.shape, in, false)...)
	n := float64(volume(along))
	x.fold(in, func(out []int, f float64) { mean.v[mean.index(out)] += f })
	for i := range mean.v {
		mean.v[i] /= n
	}
	x.fold(in, func(out []int, f float64) {
		variance.v[mean.index(out)] += (f - mean.at(out...)) * (f - mean.at(out...))
	})
	g, b := fill(r, x.d, along...), fill(r, x.d, along...)
	want := zeros(x.d, x.shape...)
	each(x.shape, func(i []int) {
		lane, param := []int{}, []int{}
		for k := range i {
			if in[k] {
				param = append(param, i[k])
			} else {
				lane = append(lane, i[k])
			}
		}
		f := (x.at(i...) - mean.at(lane...)) / math.Sqrt(variance.at(lane...)/n+epsilon)
		if gamma {
			f *= g.at(param...)
		}
		if beta {
			f += b.at(param...)
		}
		want.set(f, i...)
	})
	o := operation{op: "layer_norm", in: []operand{{"x", x, false}}, want: []nd{want},
		settings: fmt.Sprintf(", axes = %s, epsilon = fp32(%s)", intVec(list...), strconv.FormatFloat(epsilon, 'x', -1,
			64))}
	if gamma {
		o.in = append(o.in, operand{"gamma", g, r.IntN(2) == 0})
	}
	if beta {
		o.in = append(o.in, operand{"beta", b, r.IntN(2) == 0})
	}
	return o
}

// TestLayerNorm: everything but the operands and the one rounding is float64, so
// the error is one unit in the last place. Where the result is near zero by
// cancellation it is 2^-40 of the terms added.
func TestLayerNorm(t *testing.T) {
	for _, d := range []mil.DType{mil.FP16, mil.FP32} {
		r := seeded(t)
		for k := range 60 {
			x := fill(r, d, randomShape(r, 1, 5)...)
			list, in := someAxes(r, len(x.shape))
			o := normCase(r, x, list, in, []float64{0x1p-10, 0.25, 0x1p-16}[r.IntN(3)], k%2 == 0, k%3 == 0)
			o.near(t, func(_, _ int, w float64) float64 { return ulp(d, w) + 0x1p-40 })
		}
	}
}

func TestLayerNormEdges(t *testing.T) {
	r := seeded(t)
	last := func(rank int) []bool { return slices.Concat(make([]bool, rank-1), []bool{true}) }
	// Equal elements: variance 0, results 0. The default epsilon and axis.
	x := nd{mil.FP16, []int{2, 3}, []float64{7, 7, 7, -1, -1, -1}}
	operation{op: "layer_norm", in: []operand{{"x", x, false}}, want: []nd{zeros(mil.FP16, 2, 3)}}.exact(t)
	o := normCase(r, fill(r, mil.FP16, 4, 33), []int{-1}, last(2), 1e-5, false, false)
	o.settings = ""
	o.near(t, o.oneUlp)
	// The largest halves: squares overflow fp16, and fp32 sums of them do not.
	o = normCase(r, nd{mil.FP16, []int{1, 4}, []float64{65504, -65504, 65504, -65504}}, []int{1}, last(2), 0x1p-10,
		false, false)
	o.near(t, o.oneUlp)
	// float32 near its maximum: the squares fit only float64.
	o = normCase(r, nd{mil.FP32, []int{1, 4}, []float64{0x1p127, -0x1p127, 0x1p126, 0}}, []int{1}, last(2), 0x1p-10,
		false, false)
	o.near(t, o.oneUlp)
	// One element per axis.
	operation{op: "layer_norm", in: []operand{{"x", fill(r, mil.FP16, 5, 1), false}},
		want: []nd{zeros(mil.FP16, 5, 1)}}.exact(t)
	// Large lanes, side by side and consecutive.
	for _, axis := range []int{0, 1} {
		in := []bool{axis == 0, axis == 1}
		o := normCase(r, fill(r, mil.FP16, 300, 300), []int{axis}, in, 0x1p-10, true, true)
		o.near(t, func(_, _ int, w float64) float64 { return ulp(mil.FP16, w) + 0x1p-40 })
	}
}
