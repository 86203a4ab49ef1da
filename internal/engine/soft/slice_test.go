package soft_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/anekit/anekit/ane/mil"
)

// walk lists the positions that one axis of slice_by_index keeps, as a Python
// slice does. A mask that is set means None.
func walk(length, begin, end, step int, fromStart, toEnd bool) (at []int) {
	norm := func(i int) int {
		if i < 0 {
			i += length
		}
		return i
	}
	b, e := norm(begin), norm(end)
	if step > 0 {
		if fromStart {
			b = 0
		}
		if toEnd {
			e = length
		}
		for i := max(b, 0); i < min(e, length); i += step {
			at = append(at, i)
		}
		return at
	}
	if fromStart {
		b = length - 1
	}
	if toEnd {
		e = -1
	}
	for i := min(b, length-1); i > max(e, -1); i += step {
		at = append(at, i)
	}
	return at
}

// begins draws a first index and an end that keep at least one element.
func begins(t *rapid.T, length, stride int, fromStart, toEnd bool) (begin, end int) {
	type pair struct{ begin, end int }
	anywhere := rapid.IntRange(-2*length, 2*length)
	p := rapid.Custom(func(t *rapid.T) pair {
		p := pair{anywhere.Draw(t, "begin"), anywhere.Draw(t, "end")}
		if len(walk(length, p.begin, p.end, stride, fromStart, toEnd)) > 0 {
			return p
		}
		if p.begin, p.end = 0, length; stride < 0 {
			p = pair{length - 1, -2 * length}
		}
		return p
	}).Draw(t, "begin and end")
	return p.begin, p.end
}

func TestSliceByIndex(t *testing.T) {
	perType(t, func(t *rapid.T, d mil.DType) {
		x := drawn(t, d, shapeOf(t, 1, 5, 1500)...)
		n := len(x.shape)
		kept := make([][]int, n)
		begin, end, stride := make([]int, n), make([]int, n), make([]int, n)
		fromStart, toEnd, drop := make([]bool, n), make([]bool, n), make([]bool, n)
		var shape, full []int
		shape = []int{}
		for i, length := range x.shape {
			stride[i] = rapid.SampledFrom([]int{1, 1, 2, 3, -1, -2, 40, -40}).Draw(t, "stride")
			fromStart[i], toEnd[i] = oneIn(t, 4, "begin_mask"), oneIn(t, 4, "end_mask")
			if drop[i] = oneIn(t, 6, "squeeze_mask"); drop[i] {
				k := 0
				if fromStart[i] {
					begin[i] = number(t, -2*length, 2*length, "begin")
					if stride[i] < 0 {
						k = length - 1
					}
				} else {
					begin[i] = number(t, -length, length-1, "begin")
					k = (begin[i] + length) % length
				}
				end[i], kept[i] = number(t, -2*length, 2*length, "end"), []int{k}
			} else {
				begin[i], end[i] = begins(t, length, stride[i], fromStart[i], toEnd[i])
				kept[i] = walk(length, begin[i], end[i], stride[i], fromStart[i], toEnd[i])
			}
			full = append(full, len(kept[i]))
			if !drop[i] {
				shape = append(shape, len(kept[i]))
			}
		}
		var v []float64
		each(full, func(i []int) {
			from := []int{}
			for a, k := range i {
				from = append(from, kept[a][k])
			}
			v = append(v, x.at(from...))
		})
		settings := ", begin = " + intVec(begin...) + ", end = " + intVec(end...) + ", stride = " + intVec(stride...)
		for name, mask := range map[string][]bool{"begin_mask": fromStart, "end_mask": toEnd, "squeeze_mask": drop} {
			if slices.Contains(mask, true) {
				settings += ", " + name + " = " + boolVec(mask...)
			}
		}
		operation{op: "slice_by_index", in: []operand{{"x", x, constant(t)}}, settings: settings,
			want: []nd{{d, shape, v}}}.exact(t)
	})
}

func TestSliceBySize(t *testing.T) {
	perType(t, func(t *rapid.T, d mil.DType) {
		x := drawn(t, d, shapeOf(t, 1, 5, 1000)...)
		want := x
		var begin, size []int
		for a, length := range x.shape {
			b := number(t, 0, length-1, "begin")
			n := number(t, 1, length-b, "size")
			want = cut(want, a, b, 1, n)
			if b+n == length && rapid.Bool().Draw(t, "to the end") {
				n = -1
			}
			begin, size = append(begin, b-either(t, 0, length, "from the end")), append(size, n)
		}
		operation{op: "slice_by_size", in: []operand{{"x", x, constant(t)}},
			settings: ", begin = " + intVec(begin...) + ", size = " + intVec(size...), want: []nd{want}}.exact(t)
	})
}

func TestPad(t *testing.T) {
	perType(t, func(t *rapid.T, d mil.DType) {
		x := drawn(t, d, shapeOf(t, 1, 5, 300)...)
		n := len(x.shape)
		mode := rapid.SampledFrom([]string{"constant", "reflect", "replicate", ""}).Draw(t, "mode")
		before, shape := make([]int, n), slices.Clone(x.shape)
		var pairs []int
		for a := n - number(t, 1, n, "padded axes"); a < n; a++ {
			limit := 4
			if mode == "reflect" {
				limit = min(limit, x.shape[a]-1)
			}
			before[a] = number(t, 0, limit, "before")
			after := number(t, 0, limit, "after")
			pairs = append(pairs, before[a], after)
			shape[a] += before[a] + after
		}
		fillWith := 0.0
		settings := ", pad = " + intVec(pairs...)
		if mode != "" {
			settings += fmt.Sprintf(", mode = string(%q)", mode)
		}
		switch {
		case d == mil.Bool || rapid.Bool().Draw(t, "zero"):
		case d.Float():
			fillWith = -2.5
			settings += ", constant_val = " + d.String() + "(-2.5)"
		default:
			fillWith = 7
			settings += ", constant_val = " + d.String() + "(7)"
		}
		want := zeros(d, shape...)
		each(shape, func(i []int) {
			from := slices.Clone(i)
			inside := true
			for a := range from {
				k, length := i[a]-before[a], x.shape[a]
				switch mode {
				case "reflect": // back and forth between the edges, which are not repeated
					for k < 0 || k >= length {
						if k < 0 {
							k = -k
						} else {
							k = 2*(length-1) - k
						}
					}
				case "replicate":
					k = min(max(k, 0), length-1)
				}
				inside = inside && k >= 0 && k < length
				from[a] = k
			}
			if inside {
				want.set(x.at(from...), i...)
			} else {
				want.set(fillWith, i...)
			}
		})
		operation{op: "pad", in: []operand{{"x", x, constant(t)}}, settings: settings, want: []nd{want}}.exact(t)
	})
}

// TestPadWide uses a border far larger than x.
func TestPadWide(t *testing.T) {
	x := nd{mil.FP16, []int{1, 2}, []float64{1, 2}}
	want := zeros(mil.FP16, 3, 100002)
	for i := range want.v {
		if want.v[i] = 1; i%100002 > 50000 {
			want.v[i] = 2
		}
	}
	operation{op: "pad", in: []operand{{"x", x, false}}, want: []nd{want},
		settings: `, pad = tensor<int32, [4]>([1, 1, 50000, 50000]), mode = string("replicate")`}.exact(t)
}
