package oracle_test

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
)

// program surrounds statements of a function that has the input x of a type and the output y.
func program(typ, body string) string {
	return "program(1.3)\n{\n    func main<ios18>(" + typ + " x) {\n" + body + "    } -> (y);\n}\n"
}

// attention is a block of a transformer: norm, two heads, a residual sum, and a gelu.
var attention = program("tensor<fp16, [1, 9, 32]>", `
	tensor<fp16, [32]> g = const()[name = string("g"), val = WEIGHT];
	tensor<fp16, [96, 32]> wq = const()[name = string("wq"), val = WEIGHT];
	tensor<fp16, [32, 32]> wo = const()[name = string("wo"), val = WEIGHT];
	tensor<fp16, [1, 9, 32]> n = layer_norm(x = x, axes = tensor<int32, [1]>([-1]), gamma = g, epsilon = fp16(1e-5));
	tensor<fp16, [1, 9, 96]> qkv = linear(x = n, weight = wq);
	tensor<fp16, [1, 9, 6, 16]> r = reshape(x = qkv, shape = tensor<int32, [4]>([1, 9, 6, 16]));
	tensor<fp16, [1, 6, 9, 16]> t = transpose(x = r, perm = tensor<int32, [4]>([0, 2, 1, 3]));
	(tensor<fp16, [1, 2, 9, 16]> q, tensor<fp16, [1, 2, 9, 16]> k, tensor<fp16, [1, 2, 9, 16]> v) =
		split(x = t, num_splits = int32(3), axis = int32(1));
	tensor<fp16, [1, 2, 9, 9]> s = matmul(x = q, y = k, transpose_y = bool(true));
	tensor<fp16, [1, 2, 9, 9]> c = mul(x = s, y = fp16(0.25));
	tensor<fp16, [1, 2, 9, 9]> p = softmax(x = c, axis = int32(-1));
	tensor<fp16, [1, 2, 9, 16]> o = matmul(x = p, y = v);
	tensor<fp16, [1, 9, 2, 16]> b = transpose(x = o, perm = tensor<int32, [4]>([0, 2, 1, 3]));
	tensor<fp16, [1, 9, 32]> f = reshape(x = b, shape = tensor<int32, [3]>([1, -1, 32]));
	tensor<fp16, [1, 9, 32]> l = linear(x = f, weight = wo);
	tensor<fp16, [1, 9, 32]> a = add(x = x, y = l);
	tensor<fp16, [1, 9, 32]> y = gelu(x = a, mode = string("EXACT"));
`)

// picture is a block of a network of pictures: convolutions with groups and strides, a norm, a pool, and a pyramid.
var picture = program("tensor<fp16, [1, 4, 12, 10]>", `
	tensor<fp16, [8, 4, 3, 3]> wa = const()[name = string("wa"), val = WEIGHT];
	tensor<fp16, [8, 1, 3, 3]> wb = const()[name = string("wb"), val = WEIGHT];
	tensor<fp16, [8]> g = const()[name = string("g"), val = WEIGHT];
	tensor<fp16, [1, 8, 6, 5]> a = conv(x = x, weight = wa, bias = g, strides = tensor<int32, [2]>([2, 2]),
		pad_type = string("same"), pad = tensor<int32, [4]>([0, 0, 0, 0]), dilations = tensor<int32, [2]>([1, 1]),
		groups = int32(1));
	tensor<fp16, [1, 8, 6, 5]> n = batch_norm(x = a, mean = g, variance = g, gamma = g, beta = g, epsilon = fp16(1e-3));
	tensor<fp16, [1, 8, 6, 5]> s = silu(x = n);
	tensor<fp16, [1, 8, 6, 5]> d = conv(x = s, weight = wb, strides = tensor<int32, [2]>([1, 1]),
		pad_type = string("custom"), pad = tensor<int32, [4]>([2, 2, 2, 2]), dilations = tensor<int32, [2]>([2, 2]),
		groups = int32(8));
	tensor<fp16, [1, 8, 6, 5]> m = max_pool(x = d, kernel_sizes = tensor<int32, [2]>([3, 3]),
		strides = tensor<int32, [2]>([1, 1]), pad_type = string("custom"), pad = tensor<int32, [4]>([1, 1, 1, 1]),
		ceil_mode = bool(false));
	tensor<fp16, [1, 16, 6, 5]> c = concat(values = (s, m), axis = int32(1), interleave = bool(false));
	tensor<fp16, [1, 16, 12, 10]> u = upsample_nearest_neighbor(x = c, scale_factor_height = fp32(2),
		scale_factor_width = fp32(2));
	tensor<fp16, [1, 15, 12, 5]> e = slice_by_index(x = u, begin = tensor<int32, [4]>([0, 1, 0, 0]),
		end = tensor<int32, [4]>([0, 0, -1, 10]), stride = tensor<int32, [4]>([1, 1, 1, 2]),
		begin_mask = tensor<bool, [4]>([true, false, true, true]), end_mask = tensor<bool, [4]>([true, true, true, false]));
	tensor<fp16, [1, 15, 1, 1]> y = reduce_mean(x = e, axes = tensor<int32, [2]>([2, 3]), keep_dims = bool(true));
`)

// loop multiplies by a matrix until the sum of squares is small, and then chooses between two functions of the result.
var loop = program("tensor<fp16, [1, 16]>", `
	tensor<fp16, [16, 16]> w = const()[name = string("w"), val = WEIGHT];
	tensor<int32, []> zero = const()[name = string("zero"), val = tensor<int32, []>(0)];
	tensor<int32, []> n, tensor<fp16, [1, 16]> z = while_loop(loop_vars = (zero, x))
		block0(tensor<int32, []> i, tensor<fp16, [1, 16]> a) {
			tensor<fp16, [1]> s = reduce_sum_square(x = a, axes = tensor<int32, [1]>([1]), keep_dims = bool(false));
			tensor<fp16, []> t = squeeze(x = s, axes = tensor<int32, [1]>([0]));
			tensor<bool, []> large = greater(x = t, y = fp16(0.01));
			tensor<bool, []> few = less(x = i, y = int32(9));
			tensor<bool, []> on = logical_and(x = large, y = few);
		} -> (on)
		block1(tensor<int32, []> i, tensor<fp16, [1, 16]> a) {
			tensor<fp16, [1, 16]> b = matmul(x = a, y = w);
			tensor<fp16, [1, 16]> c = mul(x = b, y = fp16(0.625));
			tensor<int32, []> j = add(x = i, y = int32(1));
		} -> (j, c);
	tensor<bool, []> often = greater(x = n, y = int32(3));
	tensor<fp16, [1, 16]> y = cond(pred = often)
		block0() {
			tensor<fp16, [1, 16]> p = tanh(x = z);
		} -> (p)
		block1() {
			tensor<fp16, [1, 16]> p = mul(x = z, y = x);
		} -> (p);
`)

// The evaluation in float64 and the engine agree on programs that are made for it.
func TestOwnPrograms(t *testing.T) {
	for name, text := range map[string]string{"attention": attention, "picture": picture, "loop": loop} {
		t.Run(name, func(t *testing.T) {
			p, err := mil.Parse(name, []byte(placed(text)))
			require.NoError(t, err)
			r := rand.New(rand.NewPCG(3, 4))
			files, in := weights(t, r, p), inputs(t, r, p)
			judge(t, ane.Source{File: name, Program: p, Weights: ane.Files(files)}, in, files)
		})
	}
}

// placed writes a place in a weight file for each WEIGHT, far enough from the one before.
func placed(text string) string {
	var b strings.Builder
	at := 64
	for line := range strings.Lines(text) {
		if before, after, ok := strings.Cut(line, "WEIGHT"); ok {
			typ := strings.TrimSpace(before[:strings.Index(before, ">")+1])
			line = before + typ + `(BLOBFILE(path = string("@model_path/w.bin"), offset = uint64(` + strconv.Itoa(at) +
				`)))` + after
			at += 1 << 14
		}
		b.WriteString(line)
	}
	return b.String()
}
