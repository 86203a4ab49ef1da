package soft_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/internal/ops"
	"github.com/anekit/anekit/models"
)

// half, single and int32s are weights of a type.
func half(shape ...int) nd   { return zeros(mil.FP16, shape...) }
func single(shape ...int) nd { return zeros(mil.FP32, shape...) }
func int32s(shape ...int) nd { return zeros(mil.Int32, shape...) }

// weightedCase is a program with weights w0, w1, ..
type weightedCase struct {
	params  string
	weights []nd
	body    string
	results string
}

// weightedCases have each operator with constants among its operands, and with only
// constants, where it is folded.
func weightedCases() map[string]weightedCase {
	const x23, img = "tensor<fp16, [2, 3]> x", "tensor<fp16, [1, 2, 5, 5]> x"
	cases := map[string]weightedCase{
		"matmul right": {x23, []nd{half(3, 4)}, "tensor<fp16, [2, 4]> y = matmul(x = x, y = w0);", "y"},
		"matmul left":  {x23, []nd{half(4, 2)}, "tensor<fp16, [4, 3]> y = matmul(x = w0, y = x);", "y"},
		"matmul transposed": {x23, []nd{half(4, 3)},
			"tensor<fp16, [2, 4]> y = matmul(x = x, y = w0, transpose_y = bool(true));", "y"},
		"matmul batches": {"tensor<fp16, [2, 2, 3]> x", []nd{half(3, 1, 3, 4)},
			"tensor<fp16, [3, 2, 2, 4]> y = matmul(x = x, y = w0);", "y"},
		"matmul folded": {"tensor<fp16, [2, 4]> x", []nd{half(2, 3), half(3, 4)},
			"tensor<fp16, [2, 4]> c = matmul(x = w0, y = w1);\ntensor<fp16, [2, 4]> y = add(x = x, y = c);", "y"},
		"linear": {x23, []nd{half(4, 3), half(4)},
			"tensor<fp16, [2, 4]> y = linear(x = x, weight = w0, bias = w1);", "y"},
		"linear without bias": {x23, []nd{half(33, 3)}, "tensor<fp16, [2, 33]> y = linear(x = x, weight = w0);",
			"y"},
		"linear on a constant": {"tensor<fp16, [4, 3]> x", []nd{half(2, 3), half(4)},
			"tensor<fp16, [2, 4]> y = linear(x = w0, weight = x, bias = w1);", "y"},
		"conv": {img, []nd{half(4, 2, 3, 3), half(4)},
			`tensor<fp16, [1, 4, 5, 5]> y = conv(x = x, weight = w0, bias = w1, pad_type = string("same"));`, "y"},
		"conv groups": {img, []nd{half(4, 1, 1, 1)},
			"tensor<fp16, [1, 4, 5, 5]> y = conv(x = x, weight = w0, groups = int32(2));", "y"},
		"conv of a constant": {"tensor<fp16, [4, 2, 1, 1]> x", []nd{half(1, 2, 5, 5)},
			"tensor<fp16, [1, 4, 5, 5]> y = conv(x = w0, weight = x);", "y"},
		"layer norm": {x23, []nd{half(3), half(3)},
			"tensor<fp16, [2, 3]> y = layer_norm(x = x, gamma = w0, beta = w1, axes = tensor<int32, [1]>([1]));", "y"},
		"layer norm beta": {x23, []nd{half(3)},
			"tensor<fp16, [2, 3]> y = layer_norm(x = x, beta = w0, axes = tensor<int32, [1]>([1]));", "y"},
		"layer norm folded": {x23, []nd{half(2, 3), half(3)},
			"tensor<fp16, [2, 3]> c = layer_norm(x = w0, gamma = w1, axes = tensor<int32, [1]>([1]));\ntensor<fp16, " +
				"[2, 3]> y = add(x = x, y = c);", "y"},
		"scale and bias": {"tensor<fp16, [1, 4, 2, 3]> x", []nd{half(1, 4, 1, 1), half(1, 4, 1, 1)},
			"tensor<fp16, [1, 4, 2, 3]> a = mul(x = x, y = w0);\ntensor<fp16, [1, 4, 2, 3]> y = add(x = a, y = w1);", "y"},
		"concat": {x23, []nd{half(2, 4)},
			"tensor<fp16, [2, 10]> y = concat(values = (w0, x, x), axis = int32(1), interleave = bool(false));", "y"},
		"concat folded": {"tensor<fp16, [2, 4]> x", []nd{half(1, 4), half(1, 4)},
			"tensor<fp16, [2, 4]> c = concat(values = (w0, w1), axis = int32(0), interleave = " +
				"bool(true));\ntensor<fp16, [2, 4]> y = mul(x = x, y = c);", "y"},
		"split": {"tensor<fp16, [2, 2]> x", []nd{half(2, 4)},
			"tensor<fp16, [2, 2]> a, tensor<fp16, [2, 2]> b = split(x = w0, num_splits = int32(2), axis = " +
				"int32(1));\ntensor<fp16, [2, 2]> c = mul(x = x, y = a);\ntensor<fp16, [2, 2]> y = add(x = b, y = c);", "y"},
		"chain": {"tensor<fp16, [3, 4]> x", []nd{half(6), half(2, 3)},
			"tensor<fp16, [3, 2]> a = reshape(x = w0, shape = tensor<int32, [2]>([3, 2]));\ntensor<fp16, [2, 3]> b = " +
				"transpose(x = a, perm = tensor<int32, [2]>([1, 0]));\ntensor<fp16, [2, 3]> c = mul(x = b, y = " +
				"w1);\ntensor<fp16, [2, 4]> y = matmul(x = c, y = x);", "y"},
		"chain with literals": {"tensor<fp16, [2, 3]> x", []nd{half(2, 3)},
			"tensor<fp16, [2, 3]> l = add(x = fp16(1), y = tensor<fp16, [2, 3]>([1, 2, 3, 4, 5, 6]));\ntensor<fp16, " +
				"[2, 3]> a = sub(x = w0, y = l);\ntensor<fp16, [2, 3]> y = mul(x = x, y = a);", "y"},
		"constant results": {"tensor<fp16, [1]> x", []nd{half(2, 3), half(2, 3)},
			"tensor<fp16, [2, 3]> y = add(x = w0, y = w1);\ntensor<fp16, [6]> z = reshape(x = w1, shape = " +
				"tensor<int32, [1]>([6]));", "y, z"},
		"a chain and its middle": {"tensor<fp16, [2, 3]> x", []nd{half(2, 3), half(2, 3), half(3)},
			"tensor<fp16, [2, 3]> a = add(x = w0, y = w1);\ntensor<fp16, [2, 3]> b = mul(x = a, y = " +
				"w2);\ntensor<fp16, [2, 3]> c = sub(x = b, y = a);\ntensor<fp16, [2, 3]> y = mul(x = x, y = " +
				"c);\ntensor<fp16, [2, 3]> z = add(x = x, y = a);", "y, z"},
		"nothing reads a weight": {x23, []nd{half(2, 3), half(2, 3)},
			"tensor<fp16, [2, 3]> dead = add(x = w0, y = x);\ntensor<fp16, [2, 3]> y = add(x = w1, y = x);", "y"},
		"numbers without an axis": {x23, []nd{half(), half()},
			"fp16 c = add(x = w0, y = w1);\ntensor<fp16, [2, 3]> y = mul(x = x, y = c);\ntensor<fp16, [2, 3]> z = " +
				"mul(x = x, y = w1);", "y, z"},
	}
	folded := func(name, settings string, w nd, shape string) {
		op, _, _ := strings.Cut(name, " ")
		cases[name+" folded"] = weightedCase{"tensor<fp16, " + shape + "> x", []nd{w},
			fmt.Sprintf("tensor<fp16, %s> c = %s(x = w0%s);\ntensor<fp16, %[1]s> y = mul(x = x, y = c);", shape, op,
				settings), "y"}
	}
	for _, op := range []string{"abs", "relu", "sqrt", "rsqrt", "exp", "sigmoid", "tanh", "silu", "gelu"} {
		folded(op, "", half(2, 3), "[2, 3]")
	}
	for _, op := range []string{"reduce_sum", "reduce_mean", "reduce_max"} {
		folded(op, ", axes = tensor<int32, [1]>([0]), keep_dims = bool(true)", half(5, 3), "[1, 3]")
	}
	folded("softmax", ", axis = int32(0)", half(5, 3), "[5, 3]")
	for _, op := range []string{"max_pool", "avg_pool"} {
		folded(op, ", kernel_sizes = tensor<int32, [2]>([2, 2])", half(1, 2, 3, 3), "[1, 2, 2, 2]")
	}
	folded("reshape", ", shape = tensor<int32, [1]>([6])", half(2, 3), "[6]")
	folded("transpose", ", perm = tensor<int32, [2]>([1, 0])", half(2, 3), "[3, 2]")
	folded("expand_dims", ", axes = tensor<int32, [1]>([0])", half(2, 3), "[1, 2, 3]")
	folded("squeeze", "", half(2, 1, 3), "[2, 3]")
	folded("slice_by_index", ", begin = tensor<int32, [2]>([0, 1]), end = tensor<int32, [2]>([2, 3])", half(2, 3),
		"[2, 2]")
	folded("slice_by_size", ", begin = tensor<int32, [2]>([0, 1]), size = tensor<int32, [2]>([2, 2])", half(2, 3),
		"[2, 2]")
	folded("pad", ", pad = tensor<int32, [2]>([1, 1])", half(2, 3), "[2, 5]")
	folded("cast from fp32", `, dtype = string("fp16")`, single(2, 3), "[2, 3]")
	folded("cast from int32", `, dtype = string("fp16")`, int32s(2, 3), "[2, 3]")
	for _, op := range []string{"add", "sub", "mul", "real_div", "pow", "maximum", "minimum"} {
		cases[op] = weightedCase{"tensor<fp16, [4, 33]> x", []nd{half(4, 33), half(33)},
			fmt.Sprintf("tensor<fp16, [4, 33]> a = %s(x = x, y = w0);\ntensor<fp16, [4, 33]> b = %[1]s(x = w1, y = "+
				"x);\ntensor<fp16, [4, 33]> y = add(x = a, y = b);", op), "y"}
		cases[op+" folded"] = weightedCase{x23, []nd{half(2, 3), half(3)},
			fmt.Sprintf("tensor<fp16, [2, 3]> c = %s(x = w0, y = w1);\ntensor<fp16, [2, 3]> y = mul(x = x, y = c);",
				op), "y"}
		if op != "real_div" && op != "pow" {
			cases[op+" int32"] = weightedCase{"tensor<int32, [2, 3]> x", []nd{int32s(2, 3), int32s(3)},
				fmt.Sprintf("tensor<int32, [2, 3]> c = %s(x = w0, y = w1);\ntensor<int32, [2, 3]> y = %[1]s(x = x, y "+
					"= c);", op), "y"}
		}
	}
	maps.Copy(cases, moreWeightedCases())
	maps.Copy(cases, movingCases())
	maps.Copy(cases, windowCases())
	return cases
}

// TestInstanceEqualsCompiledProgram: for every operator and every choice of replaced
// files, an instance computes bit for bit the same as the program compiled with those
// files. The base still computes its own results. The same holds for instances of
// instances.
func TestInstanceEqualsCompiledProgram(t *testing.T) {
	cases := weightedCases()
	for _, name := range ops.Names() {
		found := name == "const"
		for _, c := range cases {
			found = found || strings.Contains(c.body, " = "+name+"(") || strings.Contains(c.body, "\n"+name+"(")
		}
		require.True(t, found, "no case has %s", name)
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r, e := seeded(t), soft.New()
			defer func() { require.NoError(t, e.Close()) }()
			for i, w := range c.weights {
				c.weights[i] = weight(r, w.d, w.shape...)
			}
			p := withWeights(t, c.params, c.weights, c.body, c.results)
			base := compileOn(t, e, p.text, p.files)
			before := runOn(t, base, 1)
			last, files := base, p.files // an instance of an instance of ..
			for choice := range 1 << len(c.weights) {
				if !effort.Full() && choice+1 < 1<<len(c.weights) { // the last is all weights
					continue
				}
				var which []int
				for i := range c.weights {
					if choice>>i&1 != 0 {
						which = append(which, i)
					}
				}
				own := refill(t, r, c.weights, which...)
				requireSame(t, p.text, compileOn(t, e, p.text, own.over(p.files)), instanceOf(t, base, own), 2)
				last, files = instanceOf(t, last, own), own.over(files)
				requireSame(t, p.text, compileOn(t, e, p.text, files), last, 3)
			}
			changed := runOn(t, last, 1)
			require.NotEqual(t, before, changed, "the case does not depend on its weights")
			require.Equal(t, before, runOn(t, base, 1), "the base is unchanged")
			requireSame(t, p.text, compileOn(t, e, p.text, p.files), instanceOf(t, last, p.files), 4)
		})
	}
}

// TestInstancesOfModels checks the same for the project's models.
func TestInstancesOfModels(t *testing.T) {
	all, err := models.All()
	require.NoError(t, err)
	weighted := 0
	for _, m := range all {
		t.Run(m.Name, func(t *testing.T) {
			r, e := seeded(t), soft.New()
			defer func() { require.NoError(t, e.Close()) }()
			base := compileOn(t, e, string(m.Text), files(m.Weights))
			before := runOn(t, base, 1)
			own := renumber(t, r, m)
			inst := instanceOf(t, base, own)
			requireSame(t, string(m.Text), compileOn(t, e, string(m.Text), own), inst, 1)
			if len(own) > 0 {
				weighted++
				require.NotEqual(t, before, runOn(t, inst, 1))
			}
			require.Equal(t, before, runOn(t, base, 1))
		})
	}
	require.Positive(t, weighted, "no model has weights")
}

// renumber returns a model's weight files with other numbers in every entry.
func renumber(t *testing.T, r *rand.Rand, m models.Model) files {
	p, err := mil.Parse(m.Name, m.Text)
	require.NoError(t, err)
	own := files{}
	for _, b := range p.Blobs() {
		path, err := b.Path.Strings()
		require.NoError(t, err)
		offset, err := b.Offset.Ints()
		require.NoError(t, err)
		if own[path[0]] == nil {
			own[path[0]] = append([]byte(nil), m.Weights[path[0]]...)
		}
		f, err := blob.NewReader(strings.NewReader(string(own[path[0]])), int64(len(own[path[0]])), path[0])
		require.NoError(t, err)
		e, err := f.Entry(uint64(offset[0]))
		require.NoError(t, err)
		require.Equal(t, mil.FP16, e.Tag.DType())
		copy(own[path[0]][e.DataOffset:], encode(weight(r, mil.FP16, int(e.Size)/2)))
	}
	return own
}
