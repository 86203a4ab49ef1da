package soft_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/internal/engine/soft"
)

// inFile adds a tensor to a weight file and returns the literal that names it.
func inFile(t testing.TB, w *blob.Writer, a nd) string {
	var data []byte
	unused := 0
	if bits := a.d.Bits(); bits < 8 {
		data = encode(pack(a.v, bits))
		unused = 8*len(data) - bits*len(a.v)
	} else {
		data = encode(a)
	}
	at, err := w.Add(a.d, data, unused)
	require.NoError(t, err)
	return fmt.Sprintf("%s(BLOBFILE(path = string(\"@model_path/w.bin\"), offset = uint64(%d)))",
		tensorType(a.d, a.shape), at)
}

// TestTinyWeights reads integers below 8 bits from a weight file. Their operator has its arguments in the brackets.
func TestTinyWeights(t *testing.T) {
	r := seeded(t)
	for _, d := range []mil.DType{mil.Int4, mil.UInt1, mil.UInt2, mil.UInt3, mil.UInt4, mil.UInt6} {
		for range 5 {
			var w blob.Writer
			q := small(r, d, 3, 1+r.IntN(40))
			op, args := "constexpr_lut_to_dense", "" //nolint:wastedassign // declared together
			want := zeros(mil.FP16, q.shape...)
			if d == mil.Int4 {
				op, args = "constexpr_blockwise_shift_scale", "data = "+inFile(t, &w, q)+", scale = "+
					inFile(t, &w, nd{mil.FP16, []int{1, 1}, []float64{0.5}})
				for i, v := range q.v {
					want.v[i] = v/2 + 0
				}
			} else {
				lut := fill(r, mil.FP16, 1, 1, 1<<d.Bits(), 1)
				args = "indices = " + inFile(t, &w, q) + ", lut = " + inFile(t, &w, lut)
				for i, v := range q.v {
					want.v[i] = lut.v[int(v)]
				}
			}
			s := tensorType(mil.FP16, q.shape)
			text := fmt.Sprintf("program(1.3)\n{\nfunc main<ios18>(%s x) {\n%[1]s w = %s()[name = string(\"w\"), %s];\n"+
				"%[1]s y = select(cond = bool(true), a = w, b = x);\n} -> (y);\n}\n", s, op, args)
			e := soft.New()
			exec := compileOn(t, e, text, files{"@model_path/w.bin": w.Bytes()})
			got := runOn(t, exec, 1)["y"]
			require.NoError(t, e.Close())
			row := len(got) / 3
			for i := range 3 {
				n := q.shape[1]
				for j := range n {
					bits := le.Uint16(got[i*row+2*j:])
					require.Equal(t, halfBits(want.at(i, j)), bits, "%s element %d %d", d, i, j)
				}
			}
		}
	}
}

// TestSharedTinyWeights: constants of one entry share its elements, and entries that overlap are refused before they
// take more memory than all bits of the file.
func TestSharedTinyWeights(t *testing.T) {
	var w blob.Writer
	literal := inFile(t, &w, small(seeded(t), mil.UInt1, 64<<10))
	program := func(literals ...string) string {
		var b strings.Builder
		for i, l := range literals {
			fmt.Fprintf(&b, "tensor<uint1, [65536]> w%d = const()[val = %s];\n", i, l)
		}
		return "program(1.3)\n{\nfunc main<ios18>(fp16 x) {\n" + b.String() + "fp16 y = relu(x = x);\n} -> (y);\n}\n"
	}
	file := w.Bytes()
	same := make([]string, 20)
	for i := range same {
		same[i] = literal
	}
	e := soft.New()
	defer func() { require.NoError(t, e.Close()) }()
	compileOn(t, e, program(same...), files{"@model_path/w.bin": file})

	// 20 entries that name 8 KiB of the file each, from one byte after another.
	var many []string
	for i := range 20 {
		meta := append([]byte(nil), file[64:128]...)
		le.PutUint64(meta[16:], uint64(64+64*20+i))
		file = append(file[:64+64*i:64+64*i], append(meta, file[64+64*i:]...)...)
		many = append(many, strings.Replace(literal, "uint64(64)", fmt.Sprintf("uint64(%d)", 64+64*i), 1))
	}
	_, err := e.Compile(context.Background(), ane.Source{Text: []byte(program(many...)),
		Weights: files{"@model_path/w.bin": file}})
	require.ErrorContains(t, err, "share their bytes")
}

// TestQuantizedConvolution runs the int8 path: quantized activations, and int8 weights that become constants.
func TestQuantizedConvolution(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const n, ci, co, h, w = 2, 3, 5, 4, 7
	x, k := zeros(mil.FP16, n, ci, h, w), small(r, mil.Int8, co, ci, 1, 1)
	for i := range x.v {
		x.v[i] = float64(r.IntN(64)-32) / 8
	}
	scales := nd{mil.FP16, []int{co}, []float64{0.5, 0.25, 1, 0.125, 2}}
	want := zeros(mil.FP16, n, co, h, w)
	each(want.shape, func(i []int) {
		sum := 0.0
		for c := range ci {
			q := between(roundRef(x.at(i[0], c, i[2], i[3])/0.25)+3, -128, 127)
			sum += (q - 3) * 0.25 * k.at(i[1], c, 0, 0) * scales.v[i[1]]
		}
		want.set(sum, i...)
	})
	xt, qt := tensorType(mil.FP16, x.shape), tensorType(mil.Int8, x.shape)
	text := "program(1.3)\n{\nfunc main<ios17>(" + xt + " x) {\n" +
		qt + " q = quantize(input = x, scale = fp16(0.25), zero_point = int8(3), output_dtype = string(\"int8\"));\n" +
		xt + " d = dequantize(input = q, scale = fp16(0.25), zero_point = int8(3));\n" +
		tensorType(mil.FP16, k.shape) + " k = constexpr_affine_dequantize()[axis = int32(0), quantized_data = " +
		k.literal() + ", scale = " + scales.literal() + ", zero_point = int8(0)];\n" +
		tensorType(mil.FP16, want.shape) + " y = conv(x = d, weight = k);\n} -> (y);\n}\n"
	got := evaluate(t, text, map[string][]byte{"x": encode(x)})["y"]
	for i, v := range want.v {
		require.InDelta(t, v, halfValue(le.Uint16(got[2*i:])), 0.5+0.001*max(v, -v), "element %d", i)
	}
}

// TestInstancesOfTinyWeights: an instance reads integers below 8 bits from its own files. A mask decides the structure
// of the program, so an instance has that of its base.
func TestInstancesOfTinyWeights(t *testing.T) {
	r := seeded(t)
	q, scale := nd{mil.Int4, []int{2, 3}, []float64{1, -8, 7, 0, 3, -2}}, nd{mil.FP16, []int{2, 1}, []float64{1, 0.5}}
	mask, nonzero := nd{mil.UInt1, []int{2, 3}, []float64{1, 0, 1, 0, 0, 1}}, fill(r, mil.FP16, 3)
	var texts [4]string
	write := func(list ...nd) files {
		var w blob.Writer
		for i, a := range list {
			texts[i] = inFile(t, &w, a)
		}
		return files{"@model_path/w.bin": w.Bytes()}
	}
	base := write(q, scale, mask, nonzero)
	const x = "tensor<fp16, [2, 3]>"
	text := "program(1.3)\n{\nfunc main<ios18>(" + x + " x) {\n" + x +
		" a = constexpr_blockwise_shift_scale()[data = " +
		texts[0] + ", scale = " + texts[1] + "];\n" + x + " b = constexpr_sparse_to_dense()[mask = " + texts[2] +
		", nonzero_data = " + texts[3] + "];\n" + x + " c = mul(x = x, y = a);\n" + x + " y = add(x = b, y = c);\n} " +
		"-> (y);\n}\n"
	e := soft.New()
	defer func() { require.NoError(t, e.Close()) }()
	exec := compileOn(t, e, text, base)
	q.v[1], nonzero.v[0] = 5, 17
	own := write(q, scale, mask, nonzero)
	requireSame(t, text, compileOn(t, e, text, own), instanceOf(t, exec, own), 3)
	require.NotEqual(t, runOn(t, exec, 3), runOn(t, instanceOf(t, exec, own), 3))
	mask.v[0], mask.v[1] = 0, 1
	_, err := exec.(instancer).NewInstance(context.Background(), write(q, scale, mask, nonzero))
	require.ErrorIs(t, err, ane.ErrMismatch)
}
