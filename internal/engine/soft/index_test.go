package soft_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
)

// indices draws a tensor of indices of axes of the given lengths, which the last axis counts in turn, or of one
// axis. Some count from the end, some lie outside.
func indices(t *rapid.T, shape []int, lengths ...int) nd {
	return indicesOf(t, rapid.SampledFrom(lengthTypes).Draw(t, "type of indices"), shape, lengths...)
}

func indicesOf(t *rapid.T, d mil.DType, shape []int, lengths ...int) nd {
	x := zeros(d, shape...)
	lo, hi := x.d.Range()
	for i := range x.v {
		n := lengths[i%len(lengths)]
		k := rapid.OneOf(rapid.IntRange(0, n-1), rapid.IntRange(-n, n-1),
			rapid.SampledFrom([]int{n, -n - 1, int(lo), int(hi)})).Draw(t, "index")
		x.v[i] = float64(min(max(k, int(lo)), int(hi)))
	}
	return x
}

// index is the element of an axis that an index means.
func index(f float64, n int) int {
	k := int(f)
	if k < 0 {
		k += n
	}
	return min(max(k, 0), n-1)
}

func TestGather(t *testing.T) {
	perType(t, func(t *rapid.T, d mil.DType) {
		x := drawn(t, d, shapeOf(t, 1, 4, 200)...)
		n := len(x.shape)
		axis, given := axisOf(t, n)
		batch := number(t, 0, axis, "batch_dims")
		more := [][]int{{}, {1}, {5}, {3, 2}} // of the result in place of the axis, at most five with the others
		if n == 4 && batch < axis {
			more = more[:3]
		}
		at := indices(t, slices.Concat(x.shape[:batch], rapid.SampledFrom(more).Draw(t, "shape")), x.shape[axis])
		shape := slices.Concat(x.shape[:axis], at.shape[batch:], x.shape[axis+1:])
		k := len(at.shape) - batch
		settings := fmt.Sprintf(", axis = int32(%d), batch_dims = int32(%d)", given, batch)
		if axis == 0 {
			settings = ""
		}
		want := from(x, shape, func(i []int) []int {
			tuple := slices.Concat(i[:batch], i[axis:axis+k])
			return slices.Concat(i[:axis], []int{index(at.at(tuple...), x.shape[axis])}, i[axis+k:])
		})
		operation{op: "gather", in: []operand{{"x", x, constant(t)}, {"indices", at, constant(t)}},
			settings: settings,
			want:     []nd{want}}.exact(t)
	})
}

func TestGatherAlongAxis(t *testing.T) {
	perType(t, func(t *rapid.T, d mil.DType) {
		x := drawn(t, d, shapeOf(t, 1, 5, 200)...)
		axis, given := axisOf(t, len(x.shape))
		shape := slices.Clone(x.shape)
		shape[axis] = number(t, 1, 6, "length")
		at := indices(t, shape, x.shape[axis])
		want := from(x, shape, func(i []int) []int {
			k := index(at.at(i...), x.shape[axis])
			i[axis] = k
			return i
		})
		operation{op: "gather_along_axis", in: []operand{{"x", x, constant(t)}, {"indices", at, constant(t)}},
			settings: fmt.Sprintf(", axis = int32(%d)", given), want: []nd{want}}.exact(t)
	})
}

// TestGatherOfElements gathers single elements of 2 and 4 bytes by int32 indices, in batches and along axes of each
// place, with indices from the end and outside.
func TestGatherOfElements(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := either(t, mil.FP16, mil.FP32, "type")
		shape := rapid.SampledFrom([][]int{{40}, {3, 40}, {2, 3, 20}}).Draw(t, "shape")
		x, last := drawn(t, d, shape...), len(shape)-1
		switch axis := number(t, 0, last, "axis"); rapid.SampledFrom([]string{"gather", "gather_along_axis",
			"gather_nd"}).Draw(t, "operation") {
		case "gather":
			at := indicesOf(t, mil.Int32, append(slices.Clone(shape[:axis]), 33), shape[last])
			want := from(x, append(slices.Clone(shape[:last]), 33), func(i []int) []int {
				return append(slices.Clone(i[:last]), index(at.at(append(slices.Clone(i[:axis]), i[last])...), shape[last]))
			})
			operation{op: "gather", in: []operand{{"x", x, false}, {"indices", at, false}}, want: []nd{want},
				settings: fmt.Sprintf(", axis = int32(%d), batch_dims = int32(%d)", last, axis)}.exact(t)
		case "gather_along_axis":
			places := slices.Clone(shape)
			places[axis] = 17
			at := indicesOf(t, mil.Int32, places, shape[axis])
			want := from(x, places, func(i []int) []int {
				i[axis] = index(at.at(i...), shape[axis])
				return i
			})
			operation{op: "gather_along_axis", in: []operand{{"x", x, false}, {"indices", at, false}}, want: []nd{want},
				settings: fmt.Sprintf(", axis = int32(%d)", axis)}.exact(t)
		case "gather_nd":
			at := indicesOf(t, mil.Int32, []int{9, len(shape)}, shape...)
			want := from(x, []int{9}, func(i []int) (to []int) {
				for k, n := range shape {
					to = append(to, index(at.at(i[0], k), n))
				}
				return to
			})
			operation{op: "gather_nd", in: []operand{{"x", x, false}, {"indices", at, false}}, want: []nd{want}}.exact(t)
		}
	})
}

func TestGatherND(t *testing.T) {
	perType(t, func(t *rapid.T, d mil.DType) {
		x := drawn(t, d, shapeOf(t, 1, 5, 200)...)
		batch := number(t, 0, len(x.shape)-1, "batch_dims")
		depth := number(t, 1, len(x.shape)-batch, "depth")
		shape := slices.Clone(x.shape[:batch])
		if batch < 4 && rapid.Bool().Draw(t, "three") { // the result has at most five axes, since depth is at least 1
			shape = append(shape, 3)
		}
		at := indices(t, append(slices.Clone(shape), depth), x.shape[batch:batch+depth]...)
		out := slices.Concat(shape, x.shape[batch+depth:])
		want := from(x, out, func(i []int) []int {
			to := slices.Clone(i[:batch])
			for k := range depth {
				to = append(to, index(at.at(append(slices.Clone(i[:len(shape)]), k)...), x.shape[batch+k]))
			}
			return append(to, i[len(shape):]...)
		})
		settings := fmt.Sprintf(", batch_dims = int32(%d)", batch)
		if batch == 0 {
			settings = ""
		}
		operation{op: "gather_nd", in: []operand{{"x", x, constant(t)}, {"indices", at, constant(t)}},
			settings: settings, want: []nd{want}}.exact(t)
	})
}

// scatterModes combine an element with an update.
var scatterModes = map[string]func(x, y float64) float64{
	"update": func(_, y float64) float64 { return y }, "add": func(x, y float64) float64 { return x + y },
	"sub": func(x, y float64) float64 { return x - y }, "mul": func(x, y float64) float64 { return x * y },
	"div": func(x, y float64) float64 { return x / y }, "max": math.Max, "min": math.Min,
}

// scattered changes elements of data in the order of the updates, each rounded to the type. to returns the element of
// data for one of updates.
func scattered(data, updates nd, mode string, to func(i []int) []int) nd {
	want := nd{data.d, data.shape, slices.Clone(data.v)}
	each(updates.shape, func(i []int) {
		at := to(slices.Clone(i))
		x, y := want.at(at...), updates.at(i...)
		v := scatterModes[mode](x, y)
		if data.d.Integer() { // two's complement; x/0 is 0
			if mode == "div" && y == 0 {
				v = 0
			}
			lo, hi := data.d.Range()
			span := int64(hi) - int64(lo) + 1
			whole := int64(math.Trunc(v))
			if mode == "mul" {
				whole = int64(x) * int64(y)
			}
			v = float64(((whole-int64(lo))%span+span)%span + int64(lo))
		}
		want.set(load(data.d, store(data.d, v)), at...)
	})
	return want
}

// scatterCase makes the operands and runs them in any mode.
func scatterCase(t *rapid.T, op string, data, at nd, shape []int, settings string, to func(i []int) []int) {
	t.Helper()
	modes := []string{"update", "add", "sub", "mul", "div", "max", "min"}
	if data.d == mil.Bool {
		modes = modes[:1]
	}
	mode := rapid.SampledFrom(modes).Draw(t, "mode")
	updates := tensorOf(t, usual(data.d), data.d, shape...)
	if mode == "update" {
		updates = drawn(t, data.d, shape...)
	}
	if mode != "add" || rapid.Bool().Draw(t, "mode is given") {
		settings += fmt.Sprintf(", mode = string(%q)", mode)
	}
	operation{op: op, in: []operand{{"data", data, constant(t)}, {"indices", at, constant(t)},
		{"updates", updates, constant(t)}}, settings: settings,
		want: []nd{scattered(data, updates, mode, to)}}.exact(t)
}

func TestScatter(t *testing.T) {
	perType(t, func(t *rapid.T, d mil.DType) {
		data := tensorOf(t, usual(d), d, shapeOf(t, 1, 4, 200)...)
		axis, given := axisOf(t, len(data.shape))
		at := indices(t, rapid.SampledFrom([][]int{{1}, {4}, {2, 3}}).Draw(t, "shape"), data.shape[axis])
		k := len(at.shape)
		scatterCase(t, "scatter", data, at, slices.Concat(data.shape[:axis], at.shape, data.shape[axis+1:]),
			fmt.Sprintf(", axis = int32(%d)", given), func(i []int) []int {
				return slices.Concat(i[:axis], []int{index(at.at(i[axis:axis+k]...), data.shape[axis])}, i[axis+k:])
			})
	})
}

func TestScatterAlongAxis(t *testing.T) {
	perType(t, func(t *rapid.T, d mil.DType) {
		data := tensorOf(t, usual(d), d, shapeOf(t, 1, 5, 200)...)
		axis, given := axisOf(t, len(data.shape))
		shape := slices.Clone(data.shape)
		shape[axis] = number(t, 1, 5, "length")
		at := indices(t, shape, data.shape[axis])
		scatterCase(t, "scatter_along_axis", data, at, shape, fmt.Sprintf(", axis = int32(%d)", given),
			func(i []int) []int {
				k := index(at.at(i...), data.shape[axis])
				i[axis] = k
				return i
			})
	})
}

func TestScatterND(t *testing.T) {
	perType(t, func(t *rapid.T, d mil.DType) {
		data := tensorOf(t, usual(d), d, shapeOf(t, 1, 5, 200)...)
		depth := number(t, 1, len(data.shape), "depth")
		lead := either(t, []int{}, []int{4}, "leading axes")
		at := indices(t, append(slices.Clone(lead), depth), data.shape[:depth]...)
		shape := slices.Concat(lead, data.shape[depth:])
		scatterCase(t, "scatter_nd", data, at, shape, "", func(i []int) []int {
			var to []int
			for k := range depth {
				to = append(to, index(at.at(append(slices.Clone(i[:len(lead)]), k)...), data.shape[k]))
			}
			return append(to, i[len(lead):]...)
		})
	})
}

// TestValidateIndices: with validate_indices an index outside is a fault, of the compile if it is constant.
func TestValidateIndices(t *testing.T) {
	const head = "program(1.3)\n{\nfunc main<ios18>(tensor<fp16, [3]> x, tensor<int32, [2]> i) {\n"
	_, err := tryEvaluate(t, head+"tensor<fp16, [2]> y = gather(x = x, indices = tensor<int32, [2]>([0, -1]), "+
		"validate_indices = bool(true));\n} -> (y);\n}", nil)
	require.ErrorIs(t, err, ane.ErrCompile)
	require.ErrorContains(t, err, "4:47: gather: indices: -1 of an axis of length 3; with validate_indices")
	for _, call := range []string{"gather(x = x, indices = i, validate_indices = bool(true))",
		"gather_along_axis(x = x, indices = i, validate_indices = bool(true))",
		"gather(x = x, indices = j, validate_indices = bool(true))"} {
		s := openStateful(t, head+"tensor<int16, [2]> j = cast(x = i, dtype = string(\"int16\"));\n"+
			"tensor<fp16, [2]> y = "+call+";\n} -> (y);\n}")
		for _, c := range []struct {
			at   []float64
			want string
		}{{[]float64{0, 2}, ""}, {[]float64{3, 1}, "index 3 of an axis of length 3"}, {[]float64{1, -1}, "index -1"},
			{[]float64{2, 0}, ""}} {
			_, err := s.r.Input("i").Write(encode(nd{mil.Int32, []int{2}, c.at}))
			require.NoError(t, err)
			_, err = s.r.Evaluate(t.Context())
			if c.want == "" {
				require.NoError(t, err)
				continue
			}
			require.ErrorIs(t, err, ane.ErrShape)
			require.ErrorContains(t, err, c.want)
		}
		s.close()
	}
}

// TestOrderOfEqualElements: those of lower index come first.
func TestOrderOfEqualElements(t *testing.T) {
	x, want := zeros(mil.FP16, 200), zeros(mil.Int32, 200)
	for i := range x.v {
		x.v[i] = float64(i * 7 % 3)
	}
	at := 0
	for value := range 3 {
		for i, f := range x.v {
			if f == float64(value) {
				want.v[at], at = float64(i), at+1
			}
		}
	}
	operation{op: "argsort", in: []operand{{"x", x, false}}, settings: ", axis = int32(0), ascending = bool(true)",
		want: []nd{want}}.exact(t)
}

// TestOrder compares topk and argsort with a stable sort. NaN is last in both orders.
func TestOrder(t *testing.T) {
	perType(t, func(t *rapid.T, d mil.DType) {
		if d == mil.Bool {
			return
		}
		x := drawn(t, d, rapid.OneOf(rapid.Just([]int{2000}), rapid.Just([]int{900, 2}), shapes(1, 5, 300),
			shapes(1, 5, 300), shapes(1, 5, 300), shapes(1, 5, 300)).Draw(t, "shape")...)
		if period := number(t, 0, 50, "period"); period > 0 { // elements that are equal
			for i := range x.v {
				x.v[i] = x.v[i%period]
			}
		}
		axis, given := axisOf(t, len(x.shape))
		n, ascending := len(x.shape), rapid.Bool().Draw(t, "ascending")
		k := number(t, 1, x.shape[axis], "k")
		shape := slices.Clone(x.shape)
		shape[axis] = k
		d2 := either(t, mil.Int32, mil.UInt16, "type of indices")
		values, at, all := zeros(d, shape...), zeros(d2, shape...), zeros(mil.Int32, x.shape...)
		lanes := slices.Clone(x.shape)
		lanes[axis] = 1
		each(lanes, func(i []int) {
			var order []int
			for j := range x.shape[axis] {
				order = append(order, j)
			}
			value := func(j int) float64 {
				i := slices.Clone(i)
				i[axis] = j
				return x.at(i...)
			}
			slices.SortStableFunc(order, func(a, b int) int {
				p, q := value(a), value(b)
				switch {
				case math.IsNaN(p) || math.IsNaN(q):
					return map[bool]int{true: 1}[math.IsNaN(p)] - map[bool]int{true: 1}[math.IsNaN(q)]
				case p == q:
					return 0
				case p < q == ascending:
					return -1
				}
				return 1
			})
			for rank, j := range order {
				to := slices.Clone(i)
				to[axis] = rank
				all.set(float64(j), to...)
				if rank < k {
					values.set(value(j), to...)
					at.set(float64(j), to...)
				}
			}
		})
		settings := fmt.Sprintf(", axis = int32(%d), ascending = bool(%t)", given, ascending)
		if axis == n-1 && !ascending {
			settings = ""
		}
		one("argsort", x, constant(t), settings, all).exact(t)
		take := fmt.Sprintf(", k = int32(%d)", k)
		if k == x.shape[axis] && rapid.Bool().Draw(t, "all") {
			take = ", k = int32(-1)"
		}
		withIndices := fmt.Sprintf(", sort = bool(true), output_indices_dtype = string(%q)", d2)
		o := one("topk", x, constant(t), settings+take+withIndices, values)
		o.want = append(o.want, at)
		o.exact(t)
		one("topk", x, constant(t), settings+take+", return_indices = bool(false)", values).exact(t)
	})
}
