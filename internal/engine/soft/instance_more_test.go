package soft_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/ops"
)

// moreWeightedCases are weightedCases of the operators on one tensor with or without settings, of comparisons and of
// compressed weights.
func moreWeightedCases() map[string]weightedCase {
	const img = "tensor<fp16, [1, 2, 5, 5]> x"
	cases := map[string]weightedCase{
		"prelu": {img, []nd{half(2)}, "tensor<fp16, [1, 2, 5, 5]> y = prelu(x = x, alpha = w0);", "y"},
		"softplus parametric": {img, []nd{half(2), half(2)},
			"tensor<fp16, [1, 2, 5, 5]> y = softplus_parametric(x = x, alpha = w0, beta = w1);", "y"},
		"sign of a difference": {"tensor<fp16, [4, 33]> x", []nd{half(4, 33), half(4, 33)},
			difference("tensor<fp16, [4, 33]> c = sign(x = d);\n"), "y"},
		"logical_not of a difference": {"tensor<fp16, [4, 33]> x", []nd{half(4, 33), half(4, 33)},
			difference("tensor<fp16, [4, 33]> p = relu(x = d);\ntensor<bool, [4, 33]> a = cast(x = p, dtype = " +
				"string(\"bool\"));\ntensor<bool, [4, 33]> b = logical_not(x = a);\ntensor<fp16, [4, 33]> c = cast(x " +
				"= b, " +
				"dtype = string(\"fp16\"));\n"), "y"},
	}
	const pair, truth = "tensor<fp16, [4, 33]> x", "tensor<bool, [4, 33]> "
	const number = "tensor<fp16, [4, 33]> c = cast(x = b, dtype = string(\"fp16\"));\n"
	for _, op := range []string{"floor_div", "mod"} {
		cases[op] = weightedCase{pair, []nd{half(4, 33), half(33)}, fmt.Sprintf("tensor<fp16, [4, 33]> c = %s(x = w0, "+
			"y = w1);\ntensor<fp16, [4, 33]> d = add(x = x, y = c);\ntensor<fp16, [4, 33]> y = %[1]s(x = d, y = w1);",
			op), "y"}
	}
	for _, op := range []string{"greater", "greater_equal", "less", "less_equal", "equal", "not_equal"} {
		cases[op] = weightedCase{pair, []nd{half(4, 33), half(4, 33)},
			difference("tensor<fp16, [4, 33]> r = round(x = d);\n" +
				truth + "b = " + op + "(x = r, y = fp16(0));\n" + number), "y"}
	}
	for op, below := range map[string]string{"logical_and": "0.25", "logical_or": "-0.25", "logical_xor": "0.25"} {
		cases[op] = weightedCase{pair, []nd{half(4, 33), half(4, 33)}, difference(truth + "g = greater(x = d, y = " +
			"fp16(0));\n" + truth + "h = less(x = d, y = fp16(" + below + "));\n" + truth + "b = " + op +
			"(x = g, y = h);\n" +
			number), "y"}
	}
	cases["select"] = weightedCase{pair, []nd{half(4, 33), half(33)}, "tensor<bool, [4, 33]> b = greater(x = w0, y = " +
		"w1);\ntensor<fp16, [4, 33]> c = select(cond = b, a = x, b = w1);\ntensor<fp16, [4, 33]> y = mul(x = c, y = " +
		"w0);",
		"y"}
	tail := strings.Repeat(", 0", 4*33-3)
	constant := func(op, weights string, list ...nd) {
		cases[op] = weightedCase{pair, list,
			fmt.Sprintf("tensor<fp16, [4, 33]> c = %s(%s);\ntensor<fp16, [4, 33]> y = "+
				"add(x = x, y = c);", op, weights), "y"}
	}
	bytes := "tensor<int8, [4, 33]>([" + "7, -3, 1" + tail + "])"
	constant("constexpr_affine_dequantize", "quantized_data = "+bytes+
		", scale = w0, zero_point = int8(3), axis = int32(0)",
		half(4))
	constant("constexpr_blockwise_shift_scale", "data = "+bytes+", scale = w0, offset = w1", half(2, 11), half(2, 11))
	indexes := "tensor<uint1, [4, 33]>([" + "1, 0, 1" + tail + "])"
	constant("constexpr_lut_to_dense", "indices = "+indexes+", lut = w0", half(2, 3, 2, 1))
	mask := "tensor<uint1, [4, 33]>([" + "1, 1, 1" + tail + "])"
	constant("constexpr_sparse_to_dense", "nonzero_data = w0, mask = "+mask, half(3))
	const dense = ");\ntensor<fp16, [4, 33]> c = constexpr_sparse_to_dense(nonzero_data = d, mask = m);\n" +
		"tensor<fp16, [4, 33]> y = add(x = x, y = c);"
	cases["constexpr_lut_to_sparse"] = weightedCase{pair, []nd{half(4, 1, 2, 1)},
		"tensor<uint1, [4, 33]> m, tensor<fp16, " +
			"[3]> d = constexpr_lut_to_sparse(indices_mask = " + mask +
			", indices_nonzero_data = tensor<uint1, [3]>([1, 0, " +
			"1]), lut = w0" + dense, "y"}
	cases["constexpr_sparse_blockwise_shift_scale"] = weightedCase{pair, []nd{half(2, 11)},
		"tensor<uint1, [4, 33]> m, " +
			"tensor<fp16, [3]> d = constexpr_sparse_blockwise_shift_scale(data_mask = " + mask + ", nonzero_data = " +
			"tensor<int8, [3]>([1, 2, 3]), scale = w0" + dense, "y"}
	cases["constexpr_cast"] = weightedCase{"tensor<fp32, [4, 33]> x", []nd{half(4, 33)}, "tensor<fp32, [4, 33]> c = " +
		"constexpr_cast(source_val = w0, output_dtype = string(\"fp32\"));\ntensor<fp32, [4, 33]> y = add(x = x, y = " +
		"c);",
		"y"}
	cases["quantize"] = weightedCase{pair, []nd{half(33)},
		"tensor<int8, [4, 33]> c = quantize(input = x, scale = w0, axis " +
			"= int32(1), output_dtype = string(\"int8\"));\ntensor<fp16, [4, 33]> y = dequantize(input = c, scale = w0, " +
			"axis = " +
			"int32(-1));", "y"}
	folded := func(settings string, names ...string) {
		for _, op := range names {
			cases[op+" folded"] = weightedCase{"tensor<fp16, [2, 3]> x", []nd{half(2, 3)},
				fmt.Sprintf("tensor<fp16, [2, 3]> c = %s(x = w0%s);\ntensor<fp16, [2, 3]> y = mul(x = x, y = c);", op,
					settings), "y"}
		}
	}
	folded("", "log", "inverse")
	for _, op := range ops.Names() {
		// sign has a case above: all weights have the same signs
		if d := ops.Lookup(op); op != "sign" && d != nil && d.Family == ops.Unaries && len(d.Params) == 1 &&
			slices.Contains(d.Params[0].Types, mil.FP16) {
			folded("", op)
		}
	}
	folded(", alpha = fp16(0.5)", "elu", "leaky_relu", "threshold", "thresholded_relu")
	folded(", alpha = fp16(-0.5), beta = fp16(2)", "clip", "clamped_relu", "scaled_tanh", "linear_activation")
	folded(", alpha = fp16(0.125), beta = fp16(0.25)", "sigmoid_hard")
	return cases
}

// difference is a body that computes c from d, the difference of two weights, and adds it to x.
func difference(c string) string {
	return "tensor<fp16, [4, 33]> d = sub(x = w0, y = w1);\n" + c + "tensor<fp16, [4, 33]> y = add(x = x, y = c);"
}
