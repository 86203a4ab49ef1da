package soft_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/effort"
)

// scalarOf formats an element as a typed literal.
func scalarOf(d mil.DType, f float64) string { return nd{d, nil, []float64{f}}.literal() }

func TestFill(t *testing.T) {
	perType(t, func(t *rapid.T, d mil.DType) {
		shape := shapeOf(t, 1, 5, 1000)
		value := anyOf(d).Draw(t, "value")
		want := zeros(d, shape...)
		for i := range want.v {
			want.v[i] = value
		}
		set := ", value = " + scalarOf(d, value)
		operation{op: "fill", settings: "shape = " + intVec(shape...) + set, want: []nd{want}}.exact(t)
		ref := drawn(t, mil.FP16, shape...)
		operation{op: "fill_like", in: []operand{{"ref_tensor", ref, constant(t)}}, settings: set,
			want: []nd{want}}.exact(t)
	})
	operation{op: "fill", settings: "shape = " + intVec(2, 33), want: []nd{zeros(mil.FP32, 2, 33)}}.exact(t)
}

// TestLargeFill is beyond the size that compiling computes.
func TestLargeFill(t *testing.T) {
	const n = 1<<28 + 64
	got := evaluate(t, fmt.Sprintf("program(1.3)\n{\nfunc main<ios18>() {\n"+
		"tensor<uint8, [%d]> y = fill(shape = tensor<int32, [1]>([%d]), value = uint8(7));\n} -> (y);\n}", n, n), nil)["y"]
	require.Len(t, got, n)
	for i := 0; i < n; i += 65521 {
		require.EqualValues(t, 7, got[i])
	}
	require.EqualValues(t, 7, got[n-1])
}

func TestRange(t *testing.T) {
	for _, c := range []struct {
		d                mil.DType
		start, end, step float64
		n                int
	}{
		{mil.Int32, 0, 10, 3, 4}, {mil.Int32, 5, -4, -2, 5}, {mil.Int32, -7, 5000, 1, 5007},
		{mil.Int32, math.MinInt32, math.MaxInt32, 1 << 30, 4},
		{mil.FP32, 0, 1, 0.25, 4}, {mil.FP32, 1, 0, -0.375, 3}, {mil.FP16, 0, 3000, 1, 3000},
		{mil.FP16, 0.5, 2, 0.5, 3},
	} {
		want := zeros(c.d, c.n)
		for i := range want.v {
			want.v[i] = load(c.d, store(c.d, c.start+float64(i)*c.step))
		}
		operation{op: "range_1d", settings: fmt.Sprintf("start = %s, end = %s, step = %s", scalarOf(c.d, c.start),
			scalarOf(c.d, c.end), scalarOf(c.d, c.step)), want: []nd{want}}.exact(t)
	}
}

func TestShapeAndNonZero(t *testing.T) {
	perType(t, func(t *rapid.T, d mil.DType) {
		x := drawn(t, d, shapeOf(t, 1, 5, 300)...)
		lengths := zeros(mil.Int32, len(x.shape))
		for i, n := range x.shape {
			lengths.v[i] = float64(n)
		}
		one("shape", x, constant(t), "", lengths).exact(t)
		want := nd{d: mil.Int32, shape: []int{0, len(x.shape)}}
		each(x.shape, func(i []int) {
			if x.at(i...) != 0 {
				want.shape[0]++
				for _, k := range i {
					want.v = append(want.v, float64(k))
				}
			}
		})
		if want.shape[0] > 0 {
			operation{op: "non_zero", in: []operand{{"x", x, true}}, want: []nd{want}}.exact(t)
		}
	})
}

// TestShapeAsSetting uses a shape where a constant is needed, and computes with it.
func TestShapeAsSetting(t *testing.T) {
	got := evaluate(t, `program(1.3)
{
func main<ios18>(tensor<fp16, [3, 4]> x, tensor<fp16, [12]> z) {
tensor<int32, [2]> s = shape(x = x);
tensor<fp16, [3, 4]> y = reshape(x = z, shape = s);
tensor<int32, [2]> d = add(x = s, y = s);
} -> (y, d, s);
}`, map[string][]byte{"z": encode(fill(seeded(t), mil.FP16, 12))})
	require.Equal(t, encode(nd{mil.Int32, []int{2}, []float64{6, 8}}), got["d"])
	require.Equal(t, encode(nd{mil.Int32, []int{2}, []float64{3, 4}}), got["s"])
}

func TestBandPart(t *testing.T) {
	perType(t, func(t *rapid.T, d mil.DType) {
		x := drawn(t, d, shapeOf(t, 2, 5, 1500)...)
		n := len(x.shape)
		lower, upper := number(t, -2, 7, "lower"), number(t, -2, 7, "upper")
		settings := fmt.Sprintf(", lower = int32(%d), upper = int32(%d)", lower, upper)
		if lower < 0 && upper < 0 && rapid.Bool().Draw(t, "the default") {
			settings = ""
		}
		one("band_part", x, constant(t), settings, from(x, x.shape, func(i []int) []int {
			if row, column := i[n-2], i[n-1]; lower >= 0 && row-column > lower || upper >= 0 && column-row > upper {
				return nil
			}
			return i
		})).exact(t)
	})
}

func TestOneHot(t *testing.T) {
	perType(t, func(t *rapid.T, d mil.DType) {
		x := zeros(rapid.SampledFrom(lengthTypes).Draw(t, "type of indices"), shapeOf(t, 0, 3, 100)...)
		size := number(t, 1, 9, "size")
		lo, _ := x.d.Range()
		for i := range x.v {
			x.v[i] = float64(number(t, max(-2, int(lo)), size+1, "index"))
		}
		axis, given := axisOf(t, len(x.shape)+1)
		on, off := anyOf(d).Draw(t, "on"), anyOf(d).Draw(t, "off")
		settings := fmt.Sprintf(", one_hot_vector_size = int32(%d)", size)
		if axis < len(x.shape) || rapid.Bool().Draw(t, "axis is given") {
			settings += fmt.Sprintf(", axis = int32(%d)", given)
		}
		switch {
		case d == mil.Int32 && rapid.Bool().Draw(t, "the default"):
			on, off = 1, 0
		case oneIn(t, 3, "off is zero"):
			off = 0
			settings += ", on_value = " + scalarOf(d, on)
		default:
			settings += ", on_value = " + scalarOf(d, on) + ", off_value = " + scalarOf(d, off)
		}
		want := zeros(d, slices.Insert(slices.Clone(x.shape), axis, size)...)
		each(want.shape, func(i []int) {
			v := off
			if int(x.at(slices.Delete(slices.Clone(i), axis, axis+1)...)) == i[axis] {
				v = on
			}
			want.set(v, i...)
		})
		operation{op: "one_hot", in: []operand{{"indices", x, constant(t)}}, settings: settings,
			want: []nd{want}}.exact(t)
	})
}

// TestOneHotBetweenAxes has the new axis between two of the indices.
func TestOneHotBetweenAxes(t *testing.T) {
	x := nd{mil.Int32, []int{3, 2}, []float64{0, 3, 1, -1, 2, 0}}
	want := zeros(mil.FP16, 3, 3, 2)
	each(want.shape, func(i []int) {
		if int(x.at(i[0], i[2])) == i[1] {
			want.set(1, i...)
		}
	})
	operation{op: "one_hot", in: []operand{{"indices", x, false}}, want: []nd{want}, settings: ", one_hot_vector_size = " +
		"int32(3), axis = int32(1), on_value = fp16(1), off_value = fp16(0)"}.exact(t)
}

func TestCumsum(t *testing.T) {
	for _, d := range []mil.DType{mil.FP16, mil.FP32, mil.Int32} {
		t.Run(d.String(), func(t *testing.T) {
			r := seeded(t)
			for range effort.Cases(60) {
				x := moved(r, d, randomShape(r, 1, 5)...)
				if r.IntN(6) == 0 {
					x = moved(r, d, []int{300, 1, 2}[:1+r.IntN(3)]...)
				}
				n := len(x.shape)
				axis, exclusive, reverse := r.IntN(n), r.IntN(2) == 0, r.IntN(2) == 0
				settings := fmt.Sprintf(", axis = int32(%d), exclusive = bool(%t), reverse = bool(%t)",
					axis-r.IntN(2)*n, exclusive, reverse)
				if axis == 0 && !exclusive && !reverse {
					settings = ""
				}
				want := zeros(d, x.shape...)
				each(x.shape, func(i []int) { // the sum of all elements before, or after, and perhaps of this one
					var parts []float64
					for k := range x.shape[axis] {
						before := k < i[axis]
						if reverse {
							before = k > i[axis]
						}
						if before || !exclusive && k == i[axis] {
							j := slices.Clone(i)
							j[axis] = k
							parts = append(parts, x.at(j...))
						}
					}
					if reverse {
						slices.Reverse(parts)
					}
					sum := 0.0
					for k, p := range parts {
						if k == 0 {
							sum = p
						} else {
							sum += p
						}
					}
					if d == mil.Int32 {
						sum = float64(int32(int64(sum)))
					}
					want.set(load(d, store(d, sum)), i...)
				})
				one("cumsum", x, r.IntN(5) == 0, settings, want).exact(t)
			}
		})
	}
}

// place is a tensor of indices, of any type, with the values of at.
func place(t *rapid.T, at []int) nd {
	x := zeros(rapid.SampledFrom([]mil.DType{mil.Int32, mil.Int16, mil.Int8}).Draw(t, "type of indices"), len(at))
	for i, k := range at {
		x.v[i] = float64(k)
	}
	return x
}

func TestSliceUpdate(t *testing.T) {
	perType(t, func(t *rapid.T, d mil.DType) {
		x := drawn(t, d, shapeOf(t, 1, 5, 1000)...)
		n := len(x.shape)
		kept := make([][]int, n)
		begin, end, stride, drop := make([]int, n), make([]int, n), make([]int, n), make([]bool, n)
		fromStart, toEnd := make([]bool, n), make([]bool, n)
		full, shape := []int{}, []int{}
		for i, length := range x.shape {
			stride[i] = rapid.SampledFrom([]int{1, 1, 2, -1, -3}).Draw(t, "stride")
			if drop[i] = oneIn(t, 6, "squeeze_mask"); drop[i] {
				begin[i] = number(t, -length, length-1, "begin")
				end[i] = number(t, -2*length, 2*length, "end")
				kept[i] = []int{(begin[i] + length) % length}
			} else {
				fromStart[i], toEnd[i] = oneIn(t, 5, "begin_mask"), oneIn(t, 5, "end_mask")
				begin[i], end[i] = begins(t, length, stride[i], fromStart[i], toEnd[i])
				kept[i] = walk(length, begin[i], end[i], stride[i], fromStart[i], toEnd[i])
			}
			full = append(full, len(kept[i]))
			if !drop[i] {
				shape = append(shape, len(kept[i]))
			}
		}
		update := drawn(t, d, shape...)
		settings := ", begin = " + intVec(begin...) + ", end = " + intVec(end...) + ", stride = " + intVec(stride...) +
			", begin_mask = " + boolVec(fromStart...) + ", end_mask = " + boolVec(toEnd...) +
			", squeeze_mask = " + boolVec(drop...)
		operation{op: "slice_update", in: []operand{{"x", x, constant(t)}, {"update", update, constant(t)}},
			settings: settings, want: []nd{replaced(x, update, kept, full)}}.exact(t)
	})
}

// replaced returns x with the elements at the positions kept of each axis taken from update.
func replaced(x, update nd, kept [][]int, full []int) nd {
	want := nd{x.d, x.shape, slices.Clone(x.v)}
	at := 0
	each(full, func(i []int) {
		to := make([]int, len(i))
		for a, k := range i {
			to[a] = kept[a][k]
		}
		want.set(update.v[at], to...)
		at++
	})
	return want
}

// TestMovingSlices begin where an operand of each run tells. A first index that leaves no room moves the slice inside.
func TestMovingSlices(t *testing.T) {
	perType(t, func(t *rapid.T, d mil.DType) {
		x := drawn(t, d, shapeOf(t, 1, 5, 500)...)
		n := len(x.shape)
		size, given, kept := make([]int, n), make([]int, n), make([][]int, n)
		for a, length := range x.shape {
			size[a] = number(t, 1, length, "size")
			given[a] = number(t, 0, length-1, "first")
			first := min(given[a], length-size[a])
			switch number(t, 0, 5, "way") {
			case 3:
				given[a], first = 99, length-size[a]
			case 4:
				given[a], first = -99, 0
			case 5:
				given[a] -= length
			}
			for k := range size[a] {
				kept[a] = append(kept[a], first+k)
			}
		}
		begin := operand{"begin", place(t, given), false}
		want := from(x, size, func(i []int) []int {
			for a := range i {
				i[a] = kept[a][i[a]]
			}
			return i
		})
		operation{op: "slice_by_size", in: []operand{{"x", x, constant(t)}, begin}, settings: ", size = " +
			intVec(size...), want: []nd{want}}.exact(t)

		update := drawn(t, d, size...)
		end := operand{"end", place(t, given), rapid.Bool().Draw(t, "constant end")}
		operation{op: "slice_update", in: []operand{{"x", x, false}, {"update", update, false}, begin, end},
			want: []nd{replaced(x, update, kept, size)}}.exact(t)

		// slice_by_index: single elements of some axes, all elements of the others, perhaps backward.
		drop, whole, stride, shape := make([]bool, n), make([]bool, n), make([]int, n), []int{}
		for a, length := range x.shape {
			drop[a] = rapid.Bool().Draw(t, "squeeze_mask")
			stride[a] = rapid.SampledFrom([]int{1, -1, 2, -2}).Draw(t, "stride")
			whole[a] = !drop[a]
			if drop[a] {
				k := given[a]
				if k < 0 {
					k += length
				}
				kept[a] = []int{min(max(k, 0), length-1)}
			} else {
				kept[a] = walk(length, 0, 0, stride[a], true, true)
				shape = append(shape, len(kept[a]))
			}
		}
		want = zeros(d, shape...)
		each(shape, func(i []int) {
			at, rest := []int{}, i
			for a := range n {
				k := 0
				if !drop[a] {
					k, rest = rest[0], rest[1:]
				}
				at = append(at, kept[a][k])
			}
			want.set(x.at(at...), i...)
		})
		operation{op: "slice_by_index", in: []operand{{"x", x, constant(t)}, begin, end}, settings: ", stride = " +
			intVec(stride...) + ", begin_mask = " + boolVec(whole...) + ", end_mask = " + boolVec(whole...) +
			", squeeze_mask = " + boolVec(drop...), want: []nd{want}}.exact(t)
	})
}

// Programs whose shapes depend on values are refused with that reason.
func TestShapesThatDependOnValues(t *testing.T) {
	for call, want := range map[string]string{
		"tensor<int32, [2, 1]> y = non_zero(x = x);": "the shape of the result " +
			"depends on values",
		"tensor<int32, [2]> y = slice_by_index(x = x, begin = i, end = i);": "axis 0 depends on values; " +
			"engines need static",
		"tensor<int32, [2]> y = range_1d(start = s, end = s, step = s);":            "has to be a constant",
		"tensor<int32, [2]> y = slice_by_size(x = x, begin = i, size = int32(-1));": "-1 depends on begin",
	} {
		_, err := tryEvaluate(t, strings.Replace("program(1.3)\n{\nfunc main<ios18>(tensor<int32, [4]> x, "+
			"tensor<int32, [1]> i, "+
			"int32 s) {\nCALL\n} -> (y);\n}", "CALL", call, 1), nil)
		require.ErrorContains(t, err, want)
	}
}
