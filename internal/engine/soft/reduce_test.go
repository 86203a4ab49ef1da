package soft_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/effort"
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

// reduceCase folds lanes one by one in float64. It represents fp16 sums of a few
// thousand terms exactly.
func reduceCase(op string, x nd, list []int, in []bool, keep bool) operation {
	flat := zeros(x.d, foldShape(x.shape, in, false)...)
	lanes := make([][]float64, len(flat.v))
	x.fold(in, func(out []int, f float64) { k := flat.index(out); lanes[k] = append(lanes[k], f) })
	for k, lane := range lanes {
		if x.d == mil.Int32 {
			flat.v[k] = wrapped(op, lane)
			continue
		}
		flat.v[k] = folded(op, lane)
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

// folded is the definition of the reductions.
func folded(op string, lane []float64) float64 {
	sum, product, magnitudes, squares, exps := 0.0, 1.0, 0.0, 0.0, 0.0
	for _, f := range lane {
		sum, product, magnitudes, squares = sum+f, product*f, magnitudes+math.Abs(f), squares+f*f
		exps += math.Exp(f)
	}
	switch op {
	case "reduce_sum":
		return sum
	case "reduce_mean":
		return sum / float64(len(lane))
	case "reduce_max":
		return slices.Max(lane)
	case "reduce_min":
		return slices.Min(lane)
	case "reduce_prod":
		return product
	case "reduce_l1_norm":
		return magnitudes
	case "reduce_l2_norm":
		return math.Sqrt(squares)
	case "reduce_log_sum":
		return math.Log(sum)
	case "reduce_sum_square":
		return squares
	case "reduce_log_sum_exp":
		return math.Log(exps)
	}
	panic(op)
}

// wrapped is folded in two's complement of 32 bits.
func wrapped(op string, lane []float64) float64 {
	sum, product, magnitudes, squares := int32(0), int32(1), int32(0), int32(0)
	for _, f := range lane {
		v := int32(f)
		sum, product, squares = sum+v, product*v, squares+v*v
		if v < 0 {
			v = -v
		}
		magnitudes += v
	}
	switch op {
	case "reduce_sum":
		return float64(sum)
	case "reduce_prod":
		return float64(product)
	case "reduce_l1_norm":
		return float64(magnitudes)
	case "reduce_sum_square":
		return float64(squares)
	}
	return folded(op, lane)
}

func TestReduce(t *testing.T) {
	ints := []string{"reduce_sum", "reduce_max", "reduce_min", "reduce_prod", "reduce_l1_norm", "reduce_sum_square"}
	exactly := []string{"reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_l1_norm"}
	for _, op := range append([]string{"reduce_mean", "reduce_l2_norm", "reduce_log_sum", "reduce_log_sum_exp"},
		ints...) {
		for _, d := range []mil.DType{mil.FP16, mil.FP32, mil.Int32} {
			if d == mil.Int32 && !slices.Contains(ints, op) {
				continue
			}
			t.Run(op+"/"+d.String(), func(t *testing.T) {
				r := seeded(t)
				for k := range effort.Cases(60) {
					x := fill(r, d, randomShape(r, 1, 5)...)
					list, in := someAxes(r, len(x.shape))
					if k%10 == 0 {
						list, in = nil, slices.Repeat([]bool{true}, len(x.shape))
					}
					if op == "reduce_log_sum" { // near zero the order of the terms decides
						for i := range x.v {
							x.v[i] = math.Abs(x.v[i]) + 0.5
						}
						x = exactly16(x)
					}
					o := reduceCase(op, x, list, in, r.IntN(2) == 0)
					switch {
					case d == mil.Int32, op == "reduce_max", op == "reduce_min",
						d == mil.FP16 && slices.Contains(exactly, op):
						o.exact(t)
					case op == "reduce_log_sum_exp": // two logarithms of the same sum
						o.near(t, func(_, _ int, w float64) float64 { return ulp(d, w) + 0x1p-44 })
					default: // float64 sums in another order
						o.near(t, o.oneUlp)
					}
				}
			})
		}
	}
}

// exactly16 rounds elements to their type.
func exactly16(x nd) nd {
	for i := range x.v {
		x.v[i] = load(x.d, store(x.d, x.v[i]))
	}
	return x
}

// argCase looks for the first element that no other exceeds.
func argCase(op string, x nd, axis int, keep bool, d mil.DType) operation {
	in := make([]bool, len(x.shape))
	in[axis] = true
	flat := zeros(d, foldShape(x.shape, in, false)...)
	lanes := make([][]float64, len(flat.v))
	x.fold(in, func(out []int, f float64) { k := flat.index(out); lanes[k] = append(lanes[k], f) })
	for k, lane := range lanes {
		best := slices.Max(lane) // NaN if there is one
		if op == "reduce_argmin" {
			best = slices.Min(lane)
		}
		flat.v[k] = float64(slices.IndexFunc(lane, func(f float64) bool { return f == best || f != f && best != best }))
	}
	flat.shape = foldShape(x.shape, in, keep)
	return operation{op: op, in: []operand{{"x", x, false}}, want: []nd{flat},
		settings: fmt.Sprintf(", axis = int32(%d), keep_dims = bool(%t), output_dtype = string(%q)", axis, keep, d)}
}

func TestReduceArg(t *testing.T) {
	for _, op := range []string{"reduce_argmax", "reduce_argmin"} {
		for _, d := range []mil.DType{mil.FP16, mil.FP32, mil.Int32} {
			t.Run(op+"/"+d.String(), func(t *testing.T) {
				r := seeded(t)
				for k := range effort.Cases(60) {
					x := fill(r, d, randomShape(r, 1, 5)...)
					if k%3 == 0 && d != mil.Int32 {
						x = special(r, d, x.shape...)
					}
					o := argCase(op, x, r.IntN(len(x.shape)), k%2 == 0, []mil.DType{mil.Int32, mil.UInt16}[r.IntN(2)])
					o.in[0].fixed = k%5 == 0
					o.exact(t)
				}
			})
		}
	}
	x := zeros(mil.FP16, 65536, 2)
	x.set(3, 65535, 1)
	o := argCase("reduce_argmax", x, 0, false, mil.UInt16)
	o.exact(t)
	// By default the last axis, which is dropped, as int32.
	o = argCase("reduce_argmax", fill(seeded(t), mil.FP16, 3, 40), 1, false, mil.Int32)
	o.settings = ""
	o.exact(t)
}

// Sums of exponentials neither overflow nor vanish.
func TestReduceLogSumExpEdges(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		x    []float64
		want float64
	}{
		{[]float64{65504}, 65504}, {[]float64{-65504}, -65504}, {[]float64{1000, 1000}, 1000.5}, {[]float64{-inf},
			-inf},
		{[]float64{-inf, 2}, 2}, {[]float64{inf, 2}, inf}, {[]float64{inf, -inf}, inf}, {[]float64{math.NaN(), 1},
			math.NaN()},
		{[]float64{-1000, -1000}, -999.5},
	} {
		operation{op: "reduce_log_sum_exp", in: []operand{{"x", nd{mil.FP16, []int{len(c.x)}, c.x}, false}},
			want: []nd{{mil.FP16, []int{}, []float64{c.want}}}}.exact(t)
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
		{"reduce_min", []float64{inf, inf}, inf}, {"reduce_min", []float64{1, nan, 2}, nan},
		{"reduce_prod", []float64{inf, 0}, nan}, {"reduce_prod", []float64{65504, 65504, 0x1p-14}, inf},
		{"reduce_prod", []float64{0x1p-14, 0x1p-14, 0x1p14}, 0x1p-14}, // products are not rounded to fp16
		{"reduce_prod", []float64{-2, 0}, math.Copysign(0, -1)},
		{"reduce_l1_norm", []float64{-inf, 1}, inf}, {"reduce_l1_norm", []float64{math.Copysign(0, -1)}, 0},
		{"reduce_l2_norm", []float64{-65504}, 65504}, {"reduce_l2_norm", []float64{3, 4}, 5},
		{"reduce_l2_norm", []float64{0x1p-24}, 0x1p-24}, {"reduce_sum_square", []float64{256, 1}, inf},
		{"reduce_sum_square", []float64{0x1p-12, 0}, 0x1p-24}, {"reduce_sum_square", []float64{nan}, nan},
		{"reduce_log_sum", []float64{1, 0}, 0}, {"reduce_log_sum", []float64{0}, -inf},
		{"reduce_log_sum", []float64{-1, 0}, nan}, {"reduce_log_sum", []float64{inf}, inf},
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

// beside are shapes whose lanes along axis 1 lie side by side, in groups that are full and that are not.
var beside = [][]int{{2, 40, 3, 5}, {1, 100, 70}, {3, 64, 33}, {2, 8, 32}}

// TestSoftmax: float32 holds the exponentials between the two passes, so a
// result is off by its own rounding and 2^-24 of it, or by the smallest
// float32.
func TestSoftmax(t *testing.T) {
	for _, d := range []mil.DType{mil.FP16, mil.FP32} {
		r := seeded(t)
		for k := range effort.Cases(60) {
			shape := randomShape(r, 1, 5)
			axis := r.IntN(len(shape))
			if k < len(beside) {
				shape, axis = beside[k], 1
			}
			x := fill(r, d, shape...)
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
		// The same twice, side by side.
		x, want := zeros(mil.FP16, len(c.x), 2), zeros(mil.FP16, len(c.x), 2)
		for i := range want.v {
			x.v[i], want.v[i] = c.x[i/2], c.want[i/2]
		}
		operation{op: "softmax", in: []operand{{"x", x, false}}, settings: ", axis = int32(0)",
			want: []nd{want}}.exact(t)
	}
	// Lanes side by side: of zeros, with a NaN, with one element that is not infinite.
	x, want := zeros(mil.FP16, 20, 3), zeros(mil.FP16, 20, 3)
	for i := range 20 {
		x.set(-inf, i, 2)
		want.set(0.05, i, 0)
		want.set(nan, i, 1)
	}
	x.set(nan, 7, 1)
	x.set(3, 11, 2)
	want.set(1, 11, 2)
	o := operation{op: "softmax", in: []operand{{"x", x, false}}, settings: ", axis = int32(0)", want: []nd{want}}
	o.near(t, func(_, _ int, w float64) float64 { return ulp(mil.FP16, w) * 0.5 })
	// An axis of the length of a vocabulary.
	x, want = zeros(mil.FP16, 1, 50000, 2), zeros(mil.FP16, 1, 50000, 2)
	for i := range want.v {
		want.v[i] = 1.0 / 50000
	}
	operation{op: "softmax", in: []operand{{"x", x, false}}, settings: ", axis = int32(1)", want: []nd{want}}.exact(t)
}

// TestReductionsOnSurfaces: a mean or a sum of an input with gaps between its rows, with and without other readers,
// has the bits of one that reads a copy without gaps.
func TestReductionsOnSurfaces(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 29))
	for n := range effort.Cases(60) {
		op, axes := []string{"reduce_mean", "reduce_sum"}[n%2], [][]int{{2, 3}, {3}, {-1, -2, -3}, {1}, {0, 3}}[r.IntN(5)]
		d := []mil.DType{mil.FP16, mil.FP16, mil.FP32}[r.IntN(3)]
		shape, in := []int{1 + r.IntN(2), 1 + r.IntN(140), 1 + r.IntN(9), 1 + r.IntN(40)}, make([]bool, 4)
		for _, a := range axes {
			in[(a+4)%4] = true
		}
		x, y := tensorType(d, shape), tensorType(d, foldShape(shape, in, true))
		text := fmt.Sprintf("program(1.3)\n{ func main<ios18>(%s x) { %s y = %s(x = x, axes = %s, keep_dims = bool(true))"+
			"[name = string(\"y\")]; ", x, y, op, intVec(axes...))
		switch n % 3 {
		case 0:
			text += "} -> (y); }"
		case 1:
			text += x + " z = relu(x = x)[name = string(\"z\")]; } -> (y, z); }"
		default:
			text += y + " z = relu(x = y)[name = string(\"z\")]; } -> (z); }"
		}
		requireUnfused(t, text, uint64(n))
	}
}
