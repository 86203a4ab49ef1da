package soft_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/anekit/anekit/ane/mil"
)

// stored are the types that a surface holds. Moves support all of them.
var stored = []mil.DType{mil.FP16, mil.FP32, mil.Bool, mil.Int8, mil.UInt8, mil.Int16, mil.UInt16, mil.Int32,
	mil.UInt32}

// moved returns random values of a type. A float may be a special value.
func moved(r *rand.Rand, d mil.DType, shape ...int) nd {
	if d.Float() && r.IntN(2) == 0 {
		return special(r, d, shape...)
	}
	return fill(r, d, shape...)
}

func TestTranspose(t *testing.T) {
	perType(t, func(t *rapid.T, d mil.DType) {
		x := drawn(t, d, shapeOf(t, 1, 5, 6000)...)
		perm := order(t, len(x.shape))
		shape := []int{}
		for _, a := range perm {
			shape = append(shape, x.shape[a])
		}
		want := zeros(d, shape...)
		each(shape, func(i []int) {
			from := make([]int, len(i))
			for k, a := range perm {
				from[a] = i[k]
			}
			want.set(x.at(from...), i...)
		})
		for k := range perm {
			perm[k] -= either(t, 0, len(perm), "from the end")
		}
		operation{op: "transpose", in: []operand{{"x", x, constant(t)}}, settings: ", perm = " + intVec(perm...),
			want: []nd{want}}.exact(t)
	})
}

// TestTransposeNarrow has matrices of few rows or columns, and short runs that change places, in more than one piece.
func TestTransposeNarrow(t *testing.T) {
	for _, c := range []struct{ shape, perm []int }{
		{[]int{3, 4500}, []int{1, 0}}, {[]int{4500, 3}, []int{1, 0}}, {[]int{2, 5, 600}, []int{2, 0, 1}},
		{[]int{70, 90, 8}, []int{1, 0, 2}}, {[]int{2, 65, 66, 4}, []int{0, 2, 1, 3}},
		{[]int{5, 70, 3, 2}, []int{1, 2, 0, 3}}, {[]int{66, 3, 5, 2}, []int{2, 1, 0, 3}},
		{[]int{9, 100, 16}, []int{1, 0, 2}}, {[]int{9, 40, 33}, []int{1, 0, 2}},
		{[]int{2, 3, 4, 5, 6}, []int{3, 0, 1, 2, 4}}, {[]int{7, 2, 40, 2}, []int{0, 2, 3, 1}},
	} {
		for _, d := range []mil.DType{mil.FP16, mil.FP32, mil.Int8} {
			x := moved(rand.New(rand.NewPCG(1, 2)), d, c.shape...)
			shape := []int{}
			for _, a := range c.perm {
				shape = append(shape, c.shape[a])
			}
			want := zeros(d, shape...)
			each(shape, func(i []int) {
				from := make([]int, len(i))
				for k, a := range c.perm {
					from[a] = i[k]
				}
				want.set(x.at(from...), i...)
			})
			operation{op: "transpose", in: []operand{{"x", x, false}}, settings: ", perm = " + intVec(c.perm...),
				want: []nd{want}}.exact(t)
		}
	}
}

func TestViews(t *testing.T) {
	perType(t, func(t *rapid.T, d mil.DType) {
		x := drawn(t, d, shapeOf(t, 0, 5, 1500)...)
		same := func(op, settings string, shape []int) {
			operation{op: op, in: []operand{{"x", x, constant(t)}}, settings: settings,
				want: []nd{{d, shape, x.v}}}.exact(t)
		}
		// reshape: split the elements into up to five axes.
		var shape []int
		rest := volume(x.shape)
		for len(shape) < 4 && rest > 1 {
			n := number(t, 1, rest, "length")
			for rest%n != 0 {
				n--
			}
			shape, rest = append(shape, n), rest/n
		}
		shape = append(shape, rest)
		given := slices.Clone(shape)
		if rapid.Bool().Draw(t, "one is inferred") {
			given[number(t, 0, len(given)-1, "inferred")] = -1
		}
		same("reshape", ", shape = "+intVec(given...), shape)
		// expand_dims: axes of the result.
		if rank := len(x.shape); rank < 5 {
			n := number(t, 1, 5-rank, "more axes")
			axes := order(t, rank+n)[:n]
			var wide []int
			for i, k := 0, 0; i < rank+n; i++ {
				if slices.Contains(axes, i) {
					wide = append(wide, 1)
				} else {
					wide = append(wide, x.shape[k])
					k++
				}
			}
			for k := range axes {
				axes[k] -= either(t, 0, rank+n, "from the end")
			}
			same("expand_dims", ", axes = "+intVec(axes...), wide)
		}
		// squeeze: some of the ones, or all.
		var ones []int
		tight, some := []int{}, []int{}
		for i, n := range x.shape {
			if n != 1 {
				tight, some = append(tight, n), append(some, n)
			} else if rapid.Bool().Draw(t, "squeezed") {
				ones = append(ones, i-either(t, 0, len(x.shape), "from the end"))
			} else {
				some = append(some, n)
			}
		}
		same("squeeze", "", tight)
		if len(ones) > 0 {
			same("squeeze", ", axes = "+intVec(ones...), some)
		}
	})
}

func TestConcat(t *testing.T) {
	perType(t, func(t *rapid.T, d mil.DType) {
		base := shapeOf(t, 1, 5, 500)
		axis, given := axisOf(t, len(base))
		n, turns := number(t, 1, 4, "values"), oneIn(t, 3, "interleave")
		o := operation{op: "concat", settings: fmt.Sprintf(", axis = int32(%d), interleave = bool(%t)", given, turns)}
		shape := slices.Clone(base)
		shape[axis] = 0
		for range n {
			s := slices.Clone(base)
			if !turns {
				s[axis] = number(t, 1, 4, "length")
			}
			shape[axis] += s[axis]
			x := drawn(t, d, s...)
			o.in = append(o.in, operand{"values", x, constant(t)})
		}
		want := zeros(d, shape...)
		each(shape, func(i []int) {
			j := slices.Clone(i)
			part := 0
			if turns {
				part, j[axis] = i[axis]%n, i[axis]/n
			} else {
				for j[axis] >= o.in[part].value.shape[axis] {
					j[axis] -= o.in[part].value.shape[axis]
					part++
				}
			}
			want.set(o.in[part].value.at(j...), i...)
		})
		o.want = []nd{want}
		o.exact(t)
	})
}

func TestSplit(t *testing.T) {
	perType(t, func(t *rapid.T, d mil.DType) {
		x := drawn(t, d, shapeOf(t, 1, 5, 1000)...)
		axis, given := axisOf(t, len(x.shape))
		var sizes []int
		settings := fmt.Sprintf(", axis = int32(%d)", given)
		if length := x.shape[axis]; rapid.Bool().Draw(t, "equal parts") {
			n := number(t, 1, length, "parts")
			for length%n != 0 {
				n--
			}
			sizes = slices.Repeat([]int{length / n}, n)
			settings += fmt.Sprintf(", num_splits = int32(%d)", n)
		} else {
			for length > 0 {
				k := number(t, 1, length, "size")
				sizes, length = append(sizes, k), length-k
			}
			settings += ", split_sizes = " + intVec(sizes...)
		}
		o := operation{op: "split", in: []operand{{"x", x, constant(t)}}, settings: settings}
		from := 0
		for _, n := range sizes {
			o.want = append(o.want, cut(x, axis, from, 1, n))
			from += n
		}
		o.exact(t)
	})
}

// cut returns n elements along an axis.
func cut(x nd, axis, from, step, n int) nd {
	shape := slices.Clone(x.shape)
	shape[axis] = n
	out := zeros(x.d, shape...)
	each(shape, func(i []int) {
		j := slices.Clone(i)
		j[axis] = from + step*i[axis]
		out.set(x.at(j...), i...)
	})
	return out
}

// TestMovesKeepEveryBit copies all 65,536 halves with every kind of move, to
// padded and to packed surfaces.
func TestMovesKeepEveryBit(t *testing.T) {
	half := func(shape ...int) string { return tensorType(mil.FP16, shape) }
	pair := half(256, 256)
	for name, c := range map[string]struct{ params, body, result string }{
		"reshape": {pair + " x", half(1<<16) + ` y = reshape(x = x, shape = tensor<int32, [1]>([65536]));`, "y"},
		"padded columns": {half(1<<16, 1) + " x", pair + ` y = reshape(x = x, shape = tensor<int32, [2]>([256, 256]));`,
			"y"},
		"to columns": {pair + " x", half(1<<16, 1) + ` y = reshape(x = x, shape = tensor<int32, [2]>([65536, 1]));`,
			"y"},
		"transpose twice": {pair + " x", pair + ` u = transpose(x = x, perm = tensor<int32, [2]>([1, 0]));` + "\n" +
			pair + ` y = transpose(x = u, perm = tensor<int32, [2]>([1, 0]));`, "y"},
		"split, concat": {half(1<<16) + " x", half(30000) + " u, " + half(35536) +
			` v = split(x = x, split_sizes = tensor<int32, [2]>([30000, 35536]), axis = int32(0));` + "\n" +
			half(1<<16) + ` y = concat(values = (u, v), axis = int32(0), interleave = bool(false));`, "y"},
		"slice": {half(2, 32768) + " x", half(2, 32768) +
			` y = slice_by_size(x = x, begin = tensor<int32, [2]>([0, 0]), size = tensor<int32, [2]>([-1, -1]));`, "y"},
		"pad, slice": {pair + " x", half(258, 259) +
			` u = pad(x = x, pad = tensor<int32, [4]>([1, 1, 1, 2]), mode = string("reflect"));` + "\n" +
			pair + ` y = slice_by_index(x = u, begin = tensor<int32, [2]>([1, 1]), end = tensor<int32, [2]>([-1, -2]));`, "y"},
		"cast to itself": {pair + " x", pair + ` y = cast(x = x, dtype = string("fp16"));`, "y"},
	} {
		t.Run(name, func(t *testing.T) {
			text := "program(1.3)\n{\nfunc main<ios18>(" + c.params + ") {\n" + c.body + "\n} -> (" + c.result + ");\n}"
			got := evaluate(t, text, map[string][]byte{"x": allHalves()})
			require.Equal(t, string(allHalves()), string(got["y"]))
		})
	}
	// A cast to float32 and back keeps everything but signalling NaNs, which
	// become quiet.
	text := strings.ReplaceAll(`program(1.3)
{
func main<ios18>(tensor<fp16, [65536]> x) {
tensor<fp32, [65536]> f = cast(x = x, dtype = string("fp32"));
tensor<fp16, [65536]> y = cast(x = f, dtype = string("fp16"));
} -> (y);
}`, "\t", "")
	got := evaluate(t, text, map[string][]byte{"x": allHalves()})["y"]
	for i := range 1 << 16 {
		want := uint16(i)
		if want&0x7fff > 0x7c00 {
			want |= 0x200
		}
		require.Equal(t, want, le.Uint16(got[2*i:]), "half %04x", i)
	}
}

// Constants have up to seven axes, and so has what compiling computes from them; what an input reaches has five.
func TestConstantsOfMoreAxes(t *testing.T) {
	k := nd{mil.FP16, []int{1, 2, 1, 2, 1, 2}, []float64{1, 2, 3, 4, 5, 6, 7, 8}}
	text := "program(1.3)\n{\nfunc main<ios18>(tensor<fp16, [8]> x) {\ntensor<fp16, [1, 2, 1, 2, 1, 2]> k = const()[val = " +
		k.literal() + "];\ntensor<fp16, [2, 2, 2, 1, 1, 1]> p = transpose(perm = " + intVec(5, 3, 1, 0, 2, 4) + ", x = k);\n" +
		"tensor<fp16, [8]> c = reshape(shape = " + intVec(8) + ", x = p);\ntensor<fp16, [8]> y = add(x = x, y = c);\n} -> (y);\n}"
	out := evaluate(t, text, map[string][]byte{"x": encode(zeros(mil.FP16, 8))})
	require.Equal(t, encode(nd{mil.FP16, []int{8}, []float64{1, 5, 3, 7, 2, 6, 4, 8}}), out["y"])
	_, err := tryEvaluate(t, strings.Replace(text, "x = p", "x = q", 1), nil)
	require.Error(t, err)
	_, err = tryEvaluate(t, strings.Replace(text, "tensor<fp16, [8]> y = add(x = x, y = c)",
		"tensor<fp16, [1, 2, 1, 2, 1, 2]> y = reshape(shape = "+intVec(1, 2, 1, 2, 1, 2)+", x = x)", 1), nil)
	require.ErrorContains(t, err, "Cannot reshape a tensor of rank > 5")
}
