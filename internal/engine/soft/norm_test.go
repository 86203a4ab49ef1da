package soft_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/effort"
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
		for k := range effort.Cases(60) {
			x := fill(r, d, randomShape(r, 1, 5)...)
			list, in := someAxes(r, len(x.shape))
			switch {
			case k < len(beside):
				x = fill(r, d, beside[k]...)
				list, in = []int{1}, make([]bool, len(x.shape))
				in[1] = true
			case k == len(beside):
				x, list, in = fill(r, d, 3, 4, 20, 5), []int{0, 2}, []bool{true, false, true, false}
			}
			o := normCase(r, x, list, in, []float64{0x1p-10, 0.25, 0x1p-16}[r.IntN(3)], k%2 == 0, k%3 == 0)
			o.near(t, func(_, _ int, w float64) float64 { return ulp(d, w) + 0x1p-40 })
		}
	}
}

func TestLayerNormEdges(t *testing.T) {
	r := seeded(t)
	last := func(rank int) []bool { return slices.Concat(make([]bool, rank-1), []bool{true}) }
	// Equal elements: variance 0, results 0.
	x := nd{mil.FP16, []int{2, 3}, []float64{7, 7, 7, -1, -1, -1}}
	operation{op: "layer_norm", in: []operand{{"x", x, false}}, settings: ", axes = " + intVec(1),
		want: []nd{zeros(mil.FP16, 2, 3)}}.exact(t)
	// The default epsilon, and by default all axes.
	o := normCase(r, fill(r, mil.FP16, 4, 33), []int{0, 1}, []bool{true, true}, 1e-5, false, false)
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
	operation{op: "layer_norm", in: []operand{{"x", fill(r, mil.FP16, 5, 1), false}}, settings: ", axes = " + intVec(1),
		want: []nd{zeros(mil.FP16, 5, 1)}}.exact(t)
	// Large lanes, side by side and consecutive.
	for _, axis := range []int{0, 1} {
		in := []bool{axis == 0, axis == 1}
		o := normCase(r, fill(r, mil.FP16, 300, 300), []int{axis}, in, 0x1p-10, true, true)
		o.near(t, func(_, _ int, w float64) float64 { return ulp(mil.FP16, w) + 0x1p-40 })
	}
}

// positive returns a tensor of random values of at least 0.5.
func positive(r *rand.Rand, d mil.DType, shape ...int) nd {
	a := fill(r, d, shape...)
	for i := range a.v {
		a.v[i] = math.Abs(a.v[i]) + 0.5
	}
	return exactly16(a)
}

// channelled returns a shape [N, C, *D] of rank 3 to 5.
func channelled(r *rand.Rand) []int { return randomShape(r, 3, 5) }

func TestBatchNorm(t *testing.T) {
	for _, d := range []mil.DType{mil.FP16, mil.FP32} {
		r := seeded(t)
		for k := range effort.Cases(60) {
			x := fill(r, d, channelled(r)...)
			n := x.shape[1]
			mean, variance, gamma, beta := fill(r, d, n), positive(r, d, n), fill(r, d, n), fill(r, d, n)
			want := zeros(d, x.shape...)
			each(x.shape, func(i []int) {
				c := i[1]
				f := (x.at(i...) - mean.v[c]) / math.Sqrt(variance.v[c]+0x1p-10)
				if k%2 == 0 {
					f *= gamma.v[c]
				}
				if k%3 == 0 {
					f += beta.v[c]
				}
				want.set(f, i...)
			})
			o := operation{op: "batch_norm", want: []nd{want}, settings: ", epsilon = fp16(0x1p-10)",
				in: []operand{{"x", x, k%9 == 0}, {"mean", mean, k%4 != 0}, {"variance", variance, k%4 != 0}}}
			if k%2 == 0 {
				o.in = append(o.in, operand{"gamma", gamma, k%4 != 0})
			}
			if k%3 == 0 {
				o.in = append(o.in, operand{"beta", beta, k%4 != 0})
			}
			o.near(t, func(_, _ int, w float64) float64 { return ulp(d, w) + 0x1p-40 })
		}
	}
	// The default epsilon is 1e-5 in the type of x.
	zero, one := zeros(mil.FP32, 1), nd{mil.FP32, []int{1, 1, 1}, []float64{1}}
	operation{op: "batch_norm", in: []operand{{"x", one, false}, {"mean", zero, true}, {"variance", zero, true}},
		want: []nd{{mil.FP32, []int{1, 1, 1}, []float64{1 / math.Sqrt(float64(float32(1e-5)))}}}}.exact(t)
	zero, one = zeros(mil.FP16, 1), nd{mil.FP16, []int{1, 1, 1}, []float64{1}}
	operation{op: "batch_norm", in: []operand{{"x", one, false}, {"mean", zero, true}, {"variance", zero, true}},
		want: []nd{{mil.FP16, []int{1, 1, 1}, []float64{1 / math.Sqrt(0x1.5p-17)}}}}.exact(t)
}

func TestInstanceNormOfOneElement(t *testing.T) {
	const channels = 40
	beta, want := zeros(mil.FP32, channels), zeros(mil.FP32, 2, channels, 1, 1)
	for i := range want.v {
		beta.v[i%channels], want.v[i] = float64(i%channels), float64(i%channels)
	}
	operation{op: "instance_norm", in: []operand{{"x", fill(seeded(t), mil.FP32, want.shape...), false},
		{"beta", beta, true}}, want: []nd{want}}.exact(t)
}

func TestInstanceNorm(t *testing.T) {
	for _, d := range []mil.DType{mil.FP16, mil.FP32} {
		r := seeded(t)
		for k := range effort.Cases(60) {
			x := fill(r, d, channelled(r)...)
			n := x.shape[1]
			gamma, beta := fill(r, d, n), fill(r, d, n)
			count := float64(volume(x.shape[2:]))
			mean, variance := zeros(d, x.shape[0], n), zeros(d, x.shape[0], n)
			each(x.shape, func(i []int) { mean.v[mean.index(i[:2])] += x.at(i...) / count })
			each(x.shape, func(i []int) {
				f := x.at(i...) - mean.at(i[:2]...)
				variance.v[mean.index(i[:2])] += f * f / count
			})
			want := zeros(d, x.shape...)
			each(x.shape, func(i []int) {
				f := (x.at(i...) - mean.at(i[:2]...)) / math.Sqrt(variance.at(i[:2]...)+0x1p-10)
				if k%2 == 0 {
					f *= gamma.v[i[1]]
				}
				if k%3 == 0 {
					f += beta.v[i[1]]
				}
				want.set(f, i...)
			})
			o := operation{op: "instance_norm", want: []nd{want}, settings: ", epsilon = fp16(0x1p-10)",
				in: []operand{{"x", x, k%9 == 0}}}
			if k%2 == 0 {
				o.in = append(o.in, operand{"gamma", gamma, k%4 != 0})
			}
			if k%3 == 0 {
				o.in = append(o.in, operand{"beta", beta, k%4 != 0})
			}
			o.near(t, func(_, _ int, w float64) float64 { return ulp(d, w) + 0x1p-40 })
		}
	}
}

func TestL2Norm(t *testing.T) {
	for _, d := range []mil.DType{mil.FP16, mil.FP32} {
		r := seeded(t)
		for k := range effort.Cases(60) {
			x := fill(r, d, channelled(r)...)
			rank := len(x.shape)
			in := make([]bool, rank)
			in[rank-1], in[rank-2], in[rank-3] = true, true, true
			sum := zeros(d, x.shape[:rank-3]...)
			x.fold(in, func(out []int, f float64) { sum.v[sum.index(out)] += f * f })
			want := zeros(d, x.shape...)
			each(x.shape, func(i []int) { want.set(x.at(i...)/math.Sqrt(sum.at(i[:rank-3]...)+0x1p-10), i...) })
			operation{op: "l2_norm", in: []operand{{"x", x, k%9 == 0}}, want: []nd{want},
				settings: ", epsilon = fp16(0x1p-10)"}.near(t, operation{want: []nd{want}}.oneUlp)
		}
	}
	// The default epsilon, 1e-6; squares beyond fp16 and fp32.
	zero := zeros(mil.FP16, 1, 1, 2)
	operation{op: "l2_norm", in: []operand{{"x", zero, false}}, want: []nd{zero}}.exact(t)
	small := nd{mil.FP32, []int{1, 1, 1}, []float64{0x1p-10}}
	o := operation{op: "l2_norm", in: []operand{{"x", small, false}},
		want: []nd{{mil.FP32, []int{1, 1, 1}, []float64{0x1p-10 / math.Sqrt(0x1p-20+1e-6)}}}}
	o.near(t, o.oneUlp)
	large := nd{mil.FP32, []int{1, 1, 2}, []float64{0x1.8p120, 0x1p121}} // 3 and 4
	o = operation{op: "l2_norm", in: []operand{{"x", large, false}},
		want: []nd{{mil.FP32, []int{1, 1, 2}, []float64{0.6, 0.8}}}}
	o.near(t, o.oneUlp)
}

func TestLocalResponseNorm(t *testing.T) {
	for _, d := range []mil.DType{mil.FP16, mil.FP32} {
		r := seeded(t)
		for k := range effort.Cases(60) {
			x := fill(r, d, channelled(r)...)
			size, alpha, beta, add := 1+r.IntN(7), 0.5, 0.75, 2.0
			settings := fmt.Sprintf(", size = int32(%d)", size)
			if k%2 == 0 {
				alpha, add = 1e-4, 1
			} else {
				settings += ", alpha = fp16(0.5), beta = fp16(0.75), k = fp16(2)"
			}
			want := zeros(d, x.shape...)
			each(x.shape, func(i []int) {
				sum := 0.0
				for c := range x.shape[1] {
					if distance := max(c-i[1], i[1]-c); distance <= size/2 {
						j := slices.Clone(i)
						j[1] = c
						sum += x.at(j...) * x.at(j...)
					}
				}
				want.set(x.at(i...)/math.Pow(add+alpha/float64(size)*sum, beta), i...)
			})
			o := operation{op: "local_response_norm", in: []operand{{"x", x, k%9 == 0}}, settings: settings,
				want: []nd{want}}
			o.near(t, o.oneUlp)
		}
	}
}
