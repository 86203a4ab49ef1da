package soft_test

import (
	"math"
	"testing"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/effort"
)

// poolCase visits each window. A mean divides by the count of elements inside
// x, or inside x and its padding.
func poolCase(op string, x nd, s sliding, exclude bool) (operation, sums) {
	r := sums{want: zeros(x.d, append([]int{x.shape[0], x.shape[1]}, s.out...)...), terms: volume(s.kernel)}
	r.mass = make([]float64, len(r.want.v))
	each(r.want.shape, func(i []int) {
		at, top, sum, mass, inside, covered := r.want.index(i), math.Inf(-1), 0.0, 0.0, 0, 0
		squares := 0.0
		each(s.kernel, func(k []int) {
			from := []int{i[0], i[1]}
			in, padded := true, true
			for a := range s.kernel {
				p := i[2+a]*s.stride[a] + k[a] - s.before[a]
				in = in && p >= 0 && p < s.in[a]
				padded = padded && p < s.in[a]+s.after[a]
				from = append(from, p)
			}
			if padded {
				covered++
			}
			if in {
				inside++
				squares += x.at(from...) * x.at(from...)
				top, sum, mass = max(top, x.at(from...)), sum+x.at(from...), mass+math.Abs(x.at(from...))
			}
		})
		switch {
		case op == "max_pool":
			r.want.v[at] = top
		case op == "l2_pool":
			r.want.v[at] = math.Sqrt(squares)
		case exclude:
			r.want.v[at], r.mass[at] = sum/float64(inside), mass/float64(inside)
		default:
			r.want.v[at], r.mass[at] = sum/float64(covered), mass/float64(covered)
		}
	})
	o := operation{op: op, in: []operand{{"x", x, false}}, settings: s.settings(true), want: []nd{r.want}}
	if exclude {
		o.settings += ", exclude_padding_from_average = bool(true)"
	}
	return o, r
}

func TestPool(t *testing.T) {
	for _, op := range []string{"max_pool", "avg_pool", "l2_pool"} {
		for _, d := range []mil.DType{mil.FP16, mil.FP32} {
			t.Run(op+"/"+d.String(), func(t *testing.T) {
				r := seeded(t)
				for k := range effort.Cases(80) {
					x := fill(r, d, spatial(r, 1+r.IntN(4))...)
					if op == "max_pool" && k%4 == 0 {
						x = special(r, d, x.shape...)
					}
					if op == "max_pool" && k%4 == 1 { // lines of many windows
						x = special(r, d, 1, 2, 7, 40)
					}
					o, s := poolCase(op, x, randomSliding(r, x.shape[2:], false, true), op == "avg_pool" &&
						r.IntN(2) == 0)
					o.in[0].fixed = k%7 == 0
					if op == "max_pool" {
						o.exact(t)
					} else {
						o.near(t, s.bound)
					}
				}
			})
		}
	}
}

// TestPoolPadding: padding never wins a maximum; a mean counts it unless
// exclude_padding_from_average is set.
func TestPoolPadding(t *testing.T) {
	x := nd{mil.FP16, []int{1, 1, 2}, []float64{-4, -6}}
	for _, c := range []struct {
		op, settings string
		want         []float64
	}{
		{"max_pool", "", []float64{-4, -4, -6}}, {"l2_pool", "", []float64{4, 7.2109375, 6}},
		{"avg_pool", "", []float64{-2, -5, -3}},
		{"avg_pool", ", exclude_padding_from_average = bool(true)", []float64{-4, -5, -6}},
	} {
		operation{op: c.op, in: []operand{{"x", x, false}}, want: []nd{{mil.FP16, []int{1, 1, 3}, c.want}},
			settings: `, kernel_sizes = tensor<int32, [1]>([2]), pad_type = string("custom"), pad = tensor<int32, [2]>([1, 1])` + c.settings}.exact(t)
	}
}

// Squares that fp16 and fp32 do not hold.
func TestL2PoolRange(t *testing.T) {
	for _, c := range []struct {
		d    mil.DType
		x, y float64
	}{{mil.FP16, 0x1p-24, 0x1p-24}, {mil.FP16, -65504, 65504}, {mil.FP32, 0x1p100, 0x1p100}, {mil.FP32, 0x1p-100,
		0x1p-100}} {
		operation{op: "l2_pool", in: []operand{{"x", nd{c.d, []int{1, 1, 1}, []float64{c.x}}, false}},
			settings: ", kernel_sizes = " + intVec(1), want: []nd{{c.d, []int{1, 1, 1}, []float64{c.y}}}}.exact(t)
	}
}
