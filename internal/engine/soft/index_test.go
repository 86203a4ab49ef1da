package soft_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/effort"
)

// indices returns a tensor of indices of axes of the given lengths, which the last axis counts in turn, or of one
// axis. Some count from the end, some lie outside.
func indices(r *rand.Rand, shape []int, lengths ...int) nd {
	x := zeros(lengthTypes[r.IntN(len(lengthTypes))], shape...)
	lo, hi := x.d.Range()
	for i := range x.v {
		n := lengths[i%len(lengths)]
		k := r.IntN(min(n, int(hi)+1))
		switch r.IntN(8) {
		case 0:
			k -= n
		case 1:
			k = []int{n, -n - 1, int(lo), int(hi)}[r.IntN(4)]
		}
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
	perType(t, 25, func(t *testing.T, r *rand.Rand, d mil.DType) {
		x := moved(r, d, randomShape(r, 1, 4)...)
		n := len(x.shape)
		axis := r.IntN(n)
		batch := r.IntN(axis + 1)
		at := indices(r, slices.Concat(x.shape[:batch], [][]int{{}, {1}, {5}, {3, 2}}[r.IntN(max(5-n+1, 1))%4]),
			x.shape[axis])
		shape := slices.Concat(x.shape[:axis], at.shape[batch:], x.shape[axis+1:])
		if len(shape) > 5 {
			return
		}
		k := len(at.shape) - batch
		settings := fmt.Sprintf(", axis = int32(%d), batch_dims = int32(%d)", axis-r.IntN(2)*n, batch)
		if axis == 0 {
			settings = ""
		}
		want := from(x, shape, func(i []int) []int {
			tuple := slices.Concat(i[:batch], i[axis:axis+k])
			return slices.Concat(i[:axis], []int{index(at.at(tuple...), x.shape[axis])}, i[axis+k:])
		})
		operation{op: "gather", in: []operand{{"x", x, r.IntN(4) == 0}, {"indices", at, r.IntN(4) == 0}},
			settings: settings,
			want:     []nd{want}}.exact(t)
	})
}

func TestGatherAlongAxis(t *testing.T) {
	perType(t, 25, func(t *testing.T, r *rand.Rand, d mil.DType) {
		x := moved(r, d, randomShape(r, 1, 5)...)
		n := len(x.shape)
		axis := r.IntN(n)
		shape := slices.Clone(x.shape)
		shape[axis] = 1 + r.IntN(6)
		at := indices(r, shape, x.shape[axis])
		want := from(x, shape, func(i []int) []int {
			k := index(at.at(i...), x.shape[axis])
			i[axis] = k
			return i
		})
		operation{op: "gather_along_axis", in: []operand{{"x", x, r.IntN(4) == 0}, {"indices", at, r.IntN(4) == 0}},
			settings: fmt.Sprintf(", axis = int32(%d)", axis-r.IntN(2)*n), want: []nd{want}}.exact(t)
	})
}

// TestGatherOfElements gathers single elements of 2 and 4 bytes by int32 indices, in batches and along axes of each
// place, with indices from the end and outside.
func TestGatherOfElements(t *testing.T) {
	r := seeded(t)
	for _, d := range []mil.DType{mil.FP16, mil.FP32} {
		for _, shape := range [][]int{{40}, {3, 40}, {2, 3, 20}} {
			x, last := moved(r, d, shape...), len(shape)-1
			for batch := range len(shape) {
				at := indices(r, append(slices.Clone(shape[:batch]), 33), shape[last])
				at.d = mil.Int32
				want := from(x, append(slices.Clone(shape[:last]), 33), func(i []int) []int {
					return append(slices.Clone(i[:last]), index(at.at(append(slices.Clone(i[:batch]), i[last])...), shape[last]))
				})
				operation{op: "gather", in: []operand{{"x", x, false}, {"indices", at, false}}, want: []nd{want},
					settings: fmt.Sprintf(", axis = int32(%d), batch_dims = int32(%d)", last, batch)}.exact(t)
			}
			for axis := range len(shape) {
				places := slices.Clone(shape)
				places[axis] = 17
				at := indices(r, places, shape[axis])
				at.d = mil.Int32
				want := from(x, places, func(i []int) []int {
					i[axis] = index(at.at(i...), shape[axis])
					return i
				})
				operation{op: "gather_along_axis", in: []operand{{"x", x, false}, {"indices", at, false}}, want: []nd{want},
					settings: fmt.Sprintf(", axis = int32(%d)", axis)}.exact(t)
			}
			at := indices(r, []int{9, len(shape)}, shape...)
			at.d = mil.Int32
			want := from(x, []int{9}, func(i []int) (to []int) {
				for k, n := range shape {
					to = append(to, index(at.at(i[0], k), n))
				}
				return to
			})
			operation{op: "gather_nd", in: []operand{{"x", x, false}, {"indices", at, false}}, want: []nd{want}}.exact(t)
		}
	}
}

func TestGatherND(t *testing.T) {
	perType(t, 25, func(t *testing.T, r *rand.Rand, d mil.DType) {
		x := moved(r, d, randomShape(r, 1, 5)...)
		batch := r.IntN(len(x.shape))
		depth := 1 + r.IntN(len(x.shape)-batch)
		shape := slices.Concat(x.shape[:batch], [][]int{{}, {3}}[r.IntN(2)])
		if len(shape) > 4 {
			return
		}
		at := indices(r, append(slices.Clone(shape), depth), x.shape[batch:batch+depth]...)
		out := slices.Concat(shape, x.shape[batch+depth:])
		if len(out) > 5 {
			return
		}
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
		operation{op: "gather_nd", in: []operand{{"x", x, r.IntN(4) == 0}, {"indices", at, r.IntN(4) == 0}},
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

// scatterCase makes the operands and runs them in a random mode.
func scatterCase(t *testing.T, r *rand.Rand, op string, data, at nd, shape []int, settings string,
	to func(i []int) []int) {
	t.Helper()
	mode := []string{"update", "add", "sub", "mul", "div", "max", "min"}[r.IntN(7)]
	if data.d == mil.Bool {
		mode = "update"
	}
	updates := fill(r, data.d, shape...)
	if mode == "update" {
		updates = moved(r, data.d, shape...)
	}
	if mode != "add" || r.IntN(2) == 0 {
		settings += fmt.Sprintf(", mode = string(%q)", mode)
	}
	operation{op: op, in: []operand{{"data", data, r.IntN(4) == 0}, {"indices", at, r.IntN(4) == 0},
		{"updates", updates, r.IntN(4) == 0}}, settings: settings,
		want: []nd{scattered(data, updates, mode, to)}}.exact(t)
}

func TestScatter(t *testing.T) {
	perType(t, 30, func(t *testing.T, r *rand.Rand, d mil.DType) {
		data := fill(r, d, randomShape(r, 1, 4)...)
		n := len(data.shape)
		axis := r.IntN(n)
		at := indices(r, [][]int{{1}, {4}, {2, 3}}[r.IntN(3)], data.shape[axis])
		k := len(at.shape)
		scatterCase(t, r, "scatter", data, at, slices.Concat(data.shape[:axis], at.shape, data.shape[axis+1:]),
			fmt.Sprintf(", axis = int32(%d)", axis-r.IntN(2)*n), func(i []int) []int {
				return slices.Concat(i[:axis], []int{index(at.at(i[axis:axis+k]...), data.shape[axis])}, i[axis+k:])
			})
	})
}

func TestScatterAlongAxis(t *testing.T) {
	perType(t, 30, func(t *testing.T, r *rand.Rand, d mil.DType) {
		data := fill(r, d, randomShape(r, 1, 5)...)
		n := len(data.shape)
		axis := r.IntN(n)
		shape := slices.Clone(data.shape)
		shape[axis] = 1 + r.IntN(5)
		at := indices(r, shape, data.shape[axis])
		scatterCase(t, r, "scatter_along_axis", data, at, shape, fmt.Sprintf(", axis = int32(%d)", axis-r.IntN(2)*n),
			func(i []int) []int {
				k := index(at.at(i...), data.shape[axis])
				i[axis] = k
				return i
			})
	})
}

func TestScatterND(t *testing.T) {
	perType(t, 30, func(t *testing.T, r *rand.Rand, d mil.DType) {
		data := fill(r, d, randomShape(r, 1, 5)...)
		depth := 1 + r.IntN(len(data.shape))
		lead := [][]int{{}, {4}}[r.IntN(2)]
		at := indices(r, append(slices.Clone(lead), depth), data.shape[:depth]...)
		shape := slices.Concat(lead, data.shape[depth:])
		if len(shape) > 5 {
			return
		}
		scatterCase(t, r, "scatter_nd", data, at, shape, "", func(i []int) []int {
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
	effort.SkipShort(t)
	perType(t, 30, func(t *testing.T, r *rand.Rand, d mil.DType) {
		if d == mil.Bool {
			return
		}
		x := moved(r, d, randomShape(r, 1, 5)...)
		if r.IntN(8) == 0 {
			x = moved(r, d, []int{3000, 2}[:1+r.IntN(2)]...)
		}
		n := len(x.shape)
		axis, ascending := r.IntN(n), r.IntN(2) == 0
		k := 1 + r.IntN(x.shape[axis])
		shape := slices.Clone(x.shape)
		shape[axis] = k
		d2 := []mil.DType{mil.Int32, mil.UInt16}[r.IntN(2)]
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
		settings := fmt.Sprintf(", axis = int32(%d), ascending = bool(%t)", axis-r.IntN(2)*n, ascending)
		if axis == n-1 && !ascending {
			settings = ""
		}
		one(r, "argsort", x, settings, all).exact(t)
		take := fmt.Sprintf(", k = int32(%d)", k)
		if k == x.shape[axis] && r.IntN(2) == 0 {
			take = ", k = int32(-1)"
		}
		o := one(r, "topk", x, settings+take+fmt.Sprintf(", sort = bool(true), output_indices_dtype = string(%q)", d2),
			values)
		o.want = append(o.want, at)
		o.exact(t)
		one(r, "topk", x, settings+take+", return_indices = bool(false)", values).exact(t)
	})
}
