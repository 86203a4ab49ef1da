package soft_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/effort"
)

// divisorShape returns a shape whose axes divide those of shape.
func divisorShape(r *rand.Rand, shape []int) []int {
	out := make([]int, len(shape))
	for i, n := range shape {
		out[i] = 1 + r.IntN(n)
		for n%out[i] != 0 {
			out[i]--
		}
	}
	return out
}

// inBlocks returns the element of a that belongs to index i of a larger shape: the index of its block.
func (a nd) inBlocks(i, shape []int) float64 {
	j := make([]int, len(i))
	for k := range i {
		j[k] = i[k] / (shape[k] / a.shape[k])
	}
	return a.at(j...)
}

// small returns a tensor of random integers of a type of at most 8 bits.
func small(r *rand.Rand, d mil.DType, shape ...int) nd {
	a := zeros(d, shape...)
	lo, hi := d.Range()
	for i := range a.v {
		a.v[i] = float64(int(lo) + r.IntN(int(hi)-int(lo)+1))
	}
	return a
}

func TestQuantize(t *testing.T) {
	r := seeded(t)
	for k := range effort.Cases(80) {
		d := []mil.DType{mil.FP16, mil.FP32}[k%2]
		q := []mil.DType{mil.Int8, mil.UInt8}[r.IntN(2)]
		x := fill(r, d, randomShape(r, 1, 5)...)
		if k%5 == 0 {
			x = special(r, d, x.shape...)
		}
		axis := r.IntN(len(x.shape))
		var shape []int
		settings := fmt.Sprintf(", output_dtype = string(%q)", q)
		if k%3 > 0 {
			shape = []int{x.shape[axis]}
			settings += fmt.Sprintf(", axis = int32(%d)", axis-len(x.shape)*r.IntN(2))
		}
		scale, zero := zeros(d, shape...), small(r, q, shape...)
		for i := range scale.v { // exact halves among the quotients
			scale.v[i] = load(d, store(d, math.Ldexp(1+float64(r.IntN(3)), -r.IntN(6))))
		}
		in := []operand{{"input", x, false}, {"scale", scale, r.IntN(3) > 0}}
		if k%4 > 0 {
			in = append(in, operand{"zero_point", zero, true})
		} else {
			zero = zeros(q, shape...)
		}
		lo, hi := q.Range()
		each1 := func(a nd, i []int) float64 {
			if len(a.shape) == 0 {
				return a.v[0]
			}
			return a.v[i[axis]]
		}
		want, back := zeros(q, x.shape...), zeros(d, x.shape...)
		each(x.shape, func(i []int) {
			y := roundRef(x.at(i...)/each1(scale, i)) + each1(zero, i)
			y = between(y, float64(lo), float64(hi))
			if y != y {
				y = 0
			}
			want.set(y, i...)
			back.set((y-each1(zero, i))*each1(scale, i)+0, i...)
		})
		operation{op: "quantize", in: in, settings: settings, want: []nd{want}}.exact(t)
		in[0].value = want
		in[1].fixed = r.IntN(2) == 0
		_, settings, _ = strings.Cut(settings, ")")
		operation{op: "dequantize", in: in, settings: settings, want: []nd{back}}.exact(t)
	}
}

// onto turns a constant into the operand of an input, so that the program has one.
func onto(o operation) string {
	var consts, args []string
	for i, a := range o.in {
		consts = append(consts, fmt.Sprintf("%s i%d = const()[val = %s];\n", tensorType(a.value.d, a.value.shape), i,
			a.value.literal()))
		args = append(args, fmt.Sprintf("%s = i%d", a.arg, i))
	}
	var results []string
	for i, w := range o.want {
		results = append(results, fmt.Sprintf("%s c%d", tensorType(w.d, w.shape), i))
	}
	last := len(o.want) - 1
	w := o.want[last]
	body := fmt.Sprintf("%s%s = %s(%s%s);\n", strings.Join(consts, ""), strings.Join(results, ", "), o.op,
		strings.Join(args, ", "), o.settings)
	t := tensorType(w.d, w.shape)
	return fmt.Sprintf("program(1.3)\n{\nfunc main<ios18>(%s x) {\n%s%s o = select(cond = bool(true), a = c%d, b = "+
		"x);\n} "+
		"-> (o);\n}\n", t, body, t, last)
}

// constexprExact compares the last result of an operator that makes constants.
func (o operation) constexprExact(t testing.TB) {
	t.Helper()
	w := o.want[len(o.want)-1]
	got := evaluate(t, onto(o), map[string][]byte{"x": encode(zeros(w.d, w.shape...))})["o"]
	want := encode(w)
	size := w.d.Size()
	for i := range w.v {
		if g, w := got[i*size:][:size], want[i*size:][:size]; string(g) != string(w) {
			t.Fatalf("element %d of %v: got %x, want %x\n%s", i, o.want[0].shape, g, w, clip(onto(o)))
		}
	}
}

func TestAffineDequantize(t *testing.T) {
	r := seeded(t)
	for k := range effort.Cases(40) {
		d := []mil.DType{mil.FP16, mil.FP32}[k%2]
		q := []mil.DType{mil.Int8, mil.UInt8}[r.IntN(2)]
		x := small(r, q, randomShape(r, 1, 4)...)
		axis := r.IntN(len(x.shape))
		vector := func(d mil.DType) nd {
			if r.IntN(2) == 0 {
				return fill(r, d)
			}
			return fill(r, d, x.shape[axis])
		}
		scale, zero := vector(d), vector(q)
		if k%4 == 0 {
			zero = nd{mil.FP32, nil, []float64{2.5}}
		}
		want := zeros(d, x.shape...)
		each(x.shape, func(i []int) {
			s, z := scale.v[0], zero.v[0]
			if len(scale.shape) > 0 {
				s = scale.v[i[axis]]
			}
			if len(zero.shape) > 0 {
				z = zero.v[i[axis]]
			}
			want.set((x.at(i...)-z)*s, i...)
		})
		operation{op: "constexpr_affine_dequantize", in: []operand{{"quantized_data", x, true}, {"scale", scale, true},
			{"zero_point", zero, true}}, settings: fmt.Sprintf(", axis = int32(%d)", axis),
			want: []nd{want}}.constexprExact(t)
	}
}

var shiftTypes = []mil.DType{mil.Int4, mil.UInt4, mil.Int8, mil.UInt8, mil.FP16, mil.FP32}

// TestOneScaleOfManyZeroPoints: the scale and the zero point change at elements of their own.
func TestOneScaleOfManyZeroPoints(t *testing.T) {
	const rows = 300 // 1,500 elements, so that a chunk begins within a row
	data, one, each := zeros(mil.Int8, rows, 5), []float64{2}, make([]float64, rows)
	for i := range data.v {
		data.v[i], each[i/5] = float64(i%23-11), float64(i/5%7-9)
	}
	for _, c := range []struct{ scale, zero []float64 }{{one, each}, {each, one}, {each, each}, {one, one}} {
		operandOf := func(arg string, d mil.DType, v []float64) operand {
			if len(v) == 1 {
				return operand{arg, nd{d, nil, v}, true}
			}
			return operand{arg, nd{d, []int{len(v)}, v}, true}
		}
		want := zeros(mil.FP16, data.shape...)
		for i, v := range data.v {
			want.v[i] = c.scale[i/5%len(c.scale)] * (v - c.zero[i/5%len(c.zero)])
		}
		operation{op: "constexpr_affine_dequantize", in: []operand{{"quantized_data", data, true},
			operandOf("scale", mil.FP16, c.scale), operandOf("zero_point", mil.Int8, c.zero)},
			settings: ", axis = int32(0)", want: []nd{want}}.constexprExact(t)
	}
}

func TestBlockwiseShiftScale(t *testing.T) {
	r := seeded(t)
	for k := range effort.Cases(60) {
		d, q := []mil.DType{mil.FP16, mil.FP32}[k%2], shiftTypes[k%len(shiftTypes)]
		x := fill(r, q, randomShape(r, 1, 4)...)
		if !q.Float() {
			x = small(r, q, x.shape...)
		}
		scale := fill(r, d, divisorShape(r, x.shape)...)
		in := []operand{{"data", x, true}, {"scale", scale, true}}
		offset := zeros(q, scale.shape...)
		if k%3 > 0 {
			if offset = fill(r, q, scale.shape...); !q.Float() {
				offset = small(r, q, scale.shape...)
			}
			in = append(in, operand{"offset", offset, true})
		}
		want, mask := zeros(d, x.shape...), zeros(mil.UInt1, x.shape...)
		var nonzero, scaled []float64
		each(x.shape, func(i []int) {
			y := scale.inBlocks(i, x.shape) * (x.at(i...) - offset.inBlocks(i, x.shape))
			want.set(y, i...)
			if r.IntN(3) == 0 || mask.index(i) == 0 {
				mask.set(1, i...)
				nonzero, scaled = append(nonzero, x.at(i...)), append(scaled, y)
			}
		})
		operation{op: "constexpr_blockwise_shift_scale", in: in, want: []nd{want}}.constexprExact(t)
		sparse := []operand{{"data_mask", mask, true}, {"nonzero_data", nd{q, []int{len(nonzero)}, nonzero}, true}}
		operation{op: "constexpr_sparse_blockwise_shift_scale", in: append(sparse, in[1:]...),
			want: []nd{mask, {d, []int{len(scaled)}, scaled}}}.constexprExact(t)
	}
}

func TestLutToDense(t *testing.T) {
	r := seeded(t)
	for k := range effort.Cases(80) {
		index := []mil.DType{mil.UInt1, mil.UInt2, mil.UInt3, mil.UInt4, mil.UInt6, mil.UInt8}[k%6]
		d := []mil.DType{mil.Int8, mil.UInt8, mil.FP16, mil.FP32}[r.IntN(4)]
		idx := small(r, index, randomShape(r, 1, 4)...)
		vector, axis := 1, 0
		settings := ""
		if k%3 == 0 {
			vector, axis = 1+r.IntN(4), r.IntN(len(idx.shape))
			settings = fmt.Sprintf(", vector_axis = int32(%d)", axis-len(idx.shape)*r.IntN(2))
		}
		lut := fill(r, d, append(divisorShape(r, idx.shape), 1<<index.Bits(), vector)...)
		if volume(lut.shape) > 20000 {
			continue
		}
		out := append([]int{}, idx.shape...)
		out[axis] *= vector
		want, mask, expanded := zeros(d, out...), zeros(mil.UInt1, idx.shape...), zeros(mil.UInt1, out...)
		var nonzero, found []float64
		for i := range mask.v {
			if mask.v[i] = float64(r.IntN(2)); i == 0 {
				mask.v[i] = 1
			}
			if mask.v[i] != 0 {
				nonzero = append(nonzero, idx.v[i])
			}
		}
		each(out, func(i []int) {
			j := append([]int{}, i...)
			part := j[axis] % vector
			j[axis] /= vector
			at := make([]int, len(j))
			for n := range j {
				at[n] = j[n] / (idx.shape[n] / lut.shape[n])
			}
			v := lut.at(append(at, int(idx.at(j...)), part)...)
			want.set(v, i...)
			if mask.at(j...) != 0 {
				expanded.set(1, i...)
				found = append(found, v)
			}
		})
		table := operand{"lut", lut, true}
		operation{op: "constexpr_lut_to_dense", in: []operand{{"indices", idx, true}, table}, settings: settings,
			want: []nd{want}}.constexprExact(t)
		operation{op: "constexpr_lut_to_sparse", in: []operand{{"indices_mask", mask, true},
			{"indices_nonzero_data", nd{index, []int{len(nonzero)}, nonzero}, true}, table}, settings: settings,
			want: []nd{expanded, {d, []int{len(found)}, found}}}.constexprExact(t)
	}
}

// TestVectorsOfPalettes: each index stands for several elements along an axis that others follow.
func TestVectorsOfPalettes(t *testing.T) {
	index := nd{mil.UInt2, []int{2, 3, 2}, []float64{0, 1, 2, 3, 3, 2, 1, 0, 2, 2, 1, 3}}
	lut := zeros(mil.FP16, 1, 3, 1, 4, 2)
	for i := range lut.v {
		lut.v[i] = float64(i + 1)
	}
	for axis := range 3 {
		out := slices.Clone(index.shape)
		out[axis] *= 2
		want, ones := zeros(mil.FP16, out...), zeros(mil.UInt1, out...)
		var found []float64
		each(out, func(i []int) {
			j := slices.Clone(i)
			j[axis] /= 2
			v := lut.at(0, j[1], 0, int(index.at(j...)), i[axis]%2)
			want.set(v, i...)
			ones.set(1, i...)
			found = append(found, v)
		})
		settings, table := fmt.Sprintf(", vector_axis = int32(%d)", axis), operand{"lut", lut, true}
		operation{op: "constexpr_lut_to_dense", in: []operand{{"indices", index, true}, table}, settings: settings,
			want: []nd{want}}.constexprExact(t)
		mask := zeros(mil.UInt1, index.shape...)
		for i := range mask.v {
			mask.v[i] = 1
		}
		operation{op: "constexpr_lut_to_sparse", in: []operand{{"indices_mask", mask, true},
			{"indices_nonzero_data", nd{mil.UInt2, []int{12}, index.v}, true}, table}, settings: settings,
			want: []nd{ones, {mil.FP16, []int{24}, found}}}.constexprExact(t)
	}
}

// pack puts numbers of some bits one after another, the first into the low bits.
func pack(numbers []float64, bits int) nd {
	var stream []int
	for _, n := range numbers {
		for b := range bits {
			stream = append(stream, int(n)>>b&1)
		}
	}
	out := zeros(mil.UInt8, (len(stream)+7)/8)
	for i, b := range stream {
		out.v[i/8] += float64(b << (i % 8))
	}
	return out
}

func TestPackedPalettes(t *testing.T) {
	r := seeded(t)
	for k := range effort.Cases(40) {
		bits := []int{1, 2, 4, 6, 8}[k%5]
		d := []mil.DType{mil.Int8, mil.UInt8, mil.FP16, mil.FP32}[r.IntN(4)]
		lut := fill(r, d, 1<<bits)
		want := zeros(d, randomShape(r, 1, 5)...)
		idx := make([]float64, len(want.v))
		for i := range idx {
			idx[i] = float64(r.IntN(1 << bits))
			want.v[i] = lut.v[int(idx[i])]
		}
		operation{op: "constexpr_lut_to_dense", in: []operand{{"indices", pack(idx, bits), true}, {"lut", lut, true}},
			settings: fmt.Sprintf(", shape = tensor<uint32, [%d]>(%s)", len(want.shape), ints(want.shape)),
			want:     []nd{want}}.constexprExact(t)
	}
}

func TestSparseToDense(t *testing.T) {
	r := seeded(t)
	for k := range effort.Cases(40) {
		d := []mil.DType{mil.Int8, mil.UInt8, mil.FP16, mil.FP32}[k%4]
		want := zeros(d, randomShape(r, 1, 5)...)
		mask := zeros(mil.UInt1, want.shape...)
		var nonzero []float64
		for i := range want.v {
			if r.IntN(3) == 0 || i == 0 {
				want.v[i], mask.v[i] = fill(r, d, 1).v[0], 1
				nonzero = append(nonzero, want.v[i])
			}
		}
		o := operation{op: "constexpr_sparse_to_dense",
			in: []operand{{"nonzero_data", nd{d, []int{len(nonzero)}, nonzero},
				true}, {"mask", mask, true}}, want: []nd{want}}
		o.constexprExact(t)
		o.in[1].value = pack(mask.v, 1)
		o.settings = fmt.Sprintf(", shape = tensor<uint32, [%d]>(%s)", len(want.shape), ints(want.shape))
		o.constexprExact(t)
	}
}

func TestConstexprCast(t *testing.T) {
	r := seeded(t)
	for _, d := range []mil.DType{mil.FP16, mil.FP32} {
		x := special(r, mil.FP16, 3, 7)
		for i, v := range x.v {
			if v != v {
				x.v[i] = 1
			}
		}
		o := operation{op: "constexpr_cast", in: []operand{{"source_val", x, true}},
			settings: fmt.Sprintf(", output_dtype = string(%q)", d), want: []nd{{d, x.shape, x.v}}}
		o.constexprExact(t)
	}
}

// TestCastOfTinyIntegers casts between integers below 8 bits and every stored type.
func TestCastOfTinyIntegers(t *testing.T) {
	r := seeded(t)
	for _, tiny := range []mil.DType{mil.Int1, mil.Int2, mil.Int3, mil.Int4, mil.Int6, mil.UInt1, mil.UInt2, mil.UInt3,
		mil.UInt4, mil.UInt6} {
		for _, d := range stored {
			x := small(r, tiny, 3, 5)
			castCase(x, d, true).exact(t)
			y := moved(r, d, 7, 9)
			want := zeros(d, 7, 9)
			for i, v := range y.v {
				want.v[i] = castRef(castRef(v, tiny)+0, d) // integers have no -0
			}
			text := fmt.Sprintf("program(1.3)\n{\nfunc main<ios18>(%s x) {\ntensor<%s, [7, 9]> s = cast(x = x, dtype = "+
				"string(\"%[2]s\"));\n%s o = cast(x = s, dtype = string(\"%s\"));\n} -> (o);\n}\n",
				tensorType(d, []int{7, 9}), tiny, tensorType(d, []int{7, 9}), d)
			if got := evaluate(t, text, map[string][]byte{"x": encode(y)})["o"]; string(got) != string(encode(want)) {
				t.Fatalf("%s through %s: got %x, want %x", d, tiny, got, encode(want))
			}
		}
	}
}

// A mask that another operator has made may have more elements set than there is data: the rest is 0.
func TestMasksBeyondTheirData(t *testing.T) {
	out := evaluate(t, `program(1.3)
{
func main<ios18>(tensor<fp16, [2, 2]> x) {
tensor<uint1, [2, 2]> m, tensor<fp16, [4]> d = constexpr_sparse_blockwise_shift_scale(
    data_mask = tensor<uint1, [2, 2]>([1, 1, 1, 1]), nonzero_data = tensor<int8, [4]>([1, 2, 3, 4]),
    scale = tensor<fp16, [1, 1]>([2]));
tensor<fp16, [2, 2]> dense = constexpr_sparse_to_dense(nonzero_data = tensor<fp16, [2]>([5, 6]), mask = m);
tensor<uint1, [2, 2]> n, tensor<fp16, [3]> e = constexpr_lut_to_sparse(indices_mask = m,
    indices_nonzero_data = tensor<uint1, [3]>([1, 0, 1]), lut = tensor<fp16, [1, 1, 2, 1]>([7, 8]));
tensor<fp16, [2, 2]> found = constexpr_sparse_to_dense(nonzero_data = e, mask = n);
tensor<uint1, [2, 2]> o, tensor<fp16, [3]> f = constexpr_sparse_blockwise_shift_scale(data_mask = n,
    nonzero_data = tensor<int8, [3]>([1, 2, 3]), scale = tensor<fp16, [1, 1]>([4]));
tensor<fp16, [2, 2]> scaled = constexpr_sparse_to_dense(nonzero_data = f, mask = o);
tensor<fp16, [2, 2]> a = add(x = x, y = dense);
tensor<fp16, [2, 2]> b = add(x = x, y = found);
tensor<fp16, [2, 2]> c = add(x = x, y = scaled);
} -> (a, b, c);
}`, map[string][]byte{"x": make([]byte, 8)})
	for name, want := range map[string][]float64{"a": {5, 6, 0, 0}, "b": {8, 7, 8, 0}, "c": {4, 8, 12, 0}} {
		require.Equal(t, encode(nd{mil.FP16, []int{2, 2}, want}), out[name], name)
	}
}
