package soft_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/anekit/anekit/ane/mil"
)

// someAxes returns a random set of axes of a rank: as a setting, some of them
// counted from the end, and as a membership test.
func someAxes(r *rand.Rand, rank int) (list []int, in []bool) {
	in = make([]bool, rank)
	for len(list) == 0 {
		for a := range rank {
			if r.IntN(2) == 0 && !in[a] {
				in[a] = true
				list = append(list, a-r.IntN(2)*rank)
			}
		}
	}
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list, in
}

// foldShape returns the remaining shape, with ones for folded axes or without
// these axes.
func foldShape(shape []int, in []bool, keep bool) []int {
	out := []int{}
	for i, n := range shape {
		switch {
		case !in[i]:
			out = append(out, n)
		case keep:
			out = append(out, 1)
		}
	}
	return out
}

// fold visits the elements of each lane. out is the index of the lane in the
// result without folded axes.
func (a nd) fold(in []bool, visit func(out []int, f float64)) {
	each(a.shape, func(i []int) {
		out := []int{}
		for k := range i {
			if !in[k] {
				out = append(out, i[k])
			}
		}
		visit(out, a.at(i...))
	})
}

// reduceCase folds with float64 sums. They represent fp16 sums of a few
// thousand terms exactly.
func reduceCase(op string, x nd, list []int, in []bool, keep bool) operation {
	flat := zeros(x.d, foldShape(x.shape, in, false)...)
	n := volume(x.shape) / max(volume(flat.shape), 1)
	if op == "reduce_max" {
		for i := range flat.v {
			flat.v[i] = math.Inf(-1)
		}
	}
	x.fold(in, func(out []int, f float64) {
		k := flat.index(out)
		if op == "reduce_max" {
			flat.v[k] = max(flat.v[k], f)
		} else {
			flat.v[k] += f
		}
	})
	for i := range flat.v {
		switch {
		case op == "reduce_mean":
			flat.v[i] /= float64(n)
		case x.d == mil.Int32:
			flat.v[i] = float64(int32(int64(flat.v[i])))
		}
	}
	flat.shape = foldShape(x.shape, in, keep)
	settings := ""
	if list != nil {
		settings = ", axes = " + intVec(list...)
	}
	if keep {
		settings += ", keep_dims = bool(true)"
	}
	return operation{op: op, in: []operand{{"x", x, false}}, settings: settings, want: []nd{flat}}
}

func TestReduce(t *testing.T) {
	for _, op := range []string{"reduce_sum", "reduce_mean", "reduce_max"} {
		for _, d := range []mil.DType{mil.FP16, mil.FP32, mil.Int32} {
			if op == "reduce_mean" && d == mil.Int32 {
				continue
			}
			t.Run(op+"/"+d.String(), func(t *testing.T) {
				r := seeded(t)
				for k := range 60 {
					x := fill(r, d, randomShape(r, 1, 5)...)
					list, in := someAxes(r, len(x.shape))
					if k%10 == 0 {
						list, in = nil, slices.Repeat([]bool{true}, len(x.shape))
					}
					o := reduceCase(op, x, list, in, r.IntN(2) == 0)
					if d == mil.FP32 && op != "reduce_max" { // float64 sums in another order
						o.near(t, o.oneUlp)
					} else {
						o.exact(t)
					}
				}
			})
		}
	}
}

func TestReduceEdges(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		op   string
		x    []float64
		want float64
	}{
		{"reduce_max", []float64{-inf, -inf}, -inf}, {"reduce_max", []float64{1, nan, 2}, nan},
		{"reduce_max", []float64{-65504, -1}, -1}, {"reduce_max", []float64{math.Copysign(0, -1)},
			math.Copysign(0, -1)},
		{"reduce_sum", []float64{65504, 65504}, inf}, {"reduce_sum", []float64{inf, -inf}, nan},
		{"reduce_sum", []float64{65504, 65504, -65504}, 65504}, // sums are not rounded to fp16
		{"reduce_sum", []float64{2048, 1}, 2048}, {"reduce_sum", []float64{2048, 3}, 2052},
		{"reduce_sum", []float64{2048, 1, 0x1p-24}, 2050}, // one rounding, not two
		{"reduce_mean", []float64{65504, 65504}, 65504}, {"reduce_mean", []float64{0x1p-24, 0}, 0},
		{"reduce_mean", []float64{0x1p-24, 0x1p-23}, 0x1p-23},
	} {
		x := nd{mil.FP16, []int{len(c.x)}, c.x}
		want := nd{mil.FP16, []int{}, []float64{c.want}}
		operation{op: c.op, in: []operand{{"x", x, false}}, want: []nd{want}}.exact(t)
		operation{op: c.op, in: []operand{{"x", x, true}}, want: []nd{want}}.exact(t) // folded
	}
	// A scalar is its own sum.
	s := nd{mil.FP16, []int{}, []float64{3}}
	for _, op := range []string{"reduce_sum", "reduce_mean", "reduce_max"} {
		operation{op: op, in: []operand{{"x", s, false}}, want: []nd{s}}.exact(t)
	}
	// 70,000 ones: more than fp16 holds, and more than one group of rows.
	for _, shape := range [][]int{{70000, 1}, {1, 70000}, {70000}} {
		x := zeros(mil.FP16, shape...)
		for i := range x.v {
			x.v[i] = 0x1p-4
		}
		operation{op: "reduce_sum", in: []operand{{"x", x, false}},
			want: []nd{{mil.FP16, []int{}, []float64{4375}}}}.exact(t)
	}
}

// TestSoftmax: float32 holds the exponentials between the two passes, so a
// result is off by its own rounding and 2^-24 of it, or by the smallest
// float32.
func TestSoftmax(t *testing.T) {
	for _, d := range []mil.DType{mil.FP16, mil.FP32} {
		r := seeded(t)
		for k := range 60 {
			x := fill(r, d, randomShape(r, 1, 5)...)
			axis := r.IntN(len(x.shape))
			in := make([]bool, len(x.shape))
			in[axis] = true
			top, sum := zeros(d, foldShape(x.shape, in, true)...), zeros(d, foldShape(x.shape, in, true)...)
			lane := func(i []int) int {
				j := slices.Clone(i)
				j[axis] = 0
				return top.index(j)
			}
			each(x.shape, func(i []int) { top.v[lane(i)] = math.Inf(-1) })
			each(x.shape, func(i []int) { top.v[lane(i)] = max(top.v[lane(i)], x.at(i...)) })
			each(x.shape, func(i []int) { sum.v[lane(i)] += math.Exp(x.at(i...) - top.v[lane(i)]) })
			want := zeros(d, x.shape...)
			each(x.shape, func(i []int) { want.set(math.Exp(x.at(i...)-top.v[lane(i)])/sum.v[lane(i)], i...) })
			settings := fmt.Sprintf(", axis = int32(%d)", axis-r.IntN(2)*len(x.shape))
			if axis == len(x.shape)-1 && k%2 == 0 {
				settings = ""
			}
			o := operation{op: "softmax", in: []operand{{"x", x, k%5 == 0}}, settings: settings, want: []nd{want}}
			o.near(t, func(_, _ int, w float64) float64 { return ulp(d, w)*0.5 + 3*0x1p-24*w + 0x1p-126 })
		}
	}
}

func TestSoftmaxEdges(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct{ x, want []float64 }{
		{[]float64{5}, []float64{1}},
		{[]float64{65504, 65504}, []float64{0.5, 0.5}},
		{[]float64{-65504, 65504}, []float64{0, 1}},
		{[]float64{-inf, 0, 0}, []float64{0, 0.5, 0.5}},
		{[]float64{-inf, -inf}, []float64{nan, nan}},
		{[]float64{inf, 0}, []float64{nan, nan}},
		{[]float64{nan, 0}, []float64{nan, nan}},
	} {
		operation{op: "softmax", in: []operand{{"x", nd{mil.FP16, []int{len(c.x)}, c.x}, false}},
			want: []nd{{mil.FP16, []int{len(c.x)}, c.want}}}.exact(t)
	}
	// An axis of the length of a vocabulary.
	x := zeros(mil.FP16, 1, 50000, 2)
	want := zeros(mil.FP16, 1, 50000, 2)
	for i := range want.v {
		want.v[i] = 1.0 / 50000
	}
	operation{op: "softmax", in: []operand{{"x", x, false}}, settings: ", axis = int32(1)", want: []nd{want}}.exact(t)
}
