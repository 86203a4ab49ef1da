package soft_test

import "fmt"

// windowCases have the reductions, norms, windows, products and recurrent operators, with weights as operands or
// folded.
func windowCases() map[string]weightedCase {
	const img = "tensor<fp16, [1, 2, 5, 5]> x"
	cases := map[string]weightedCase{}
	// on puts one statement with weights on x; the result has a shape.
	on := func(name, params, shape, call string, weights ...nd) {
		cases[name] = weightedCase{params, weights, "tensor<fp16, " + shape + "> y = " + call + ";", "y"}
	}
	// folded multiplies x by an operator on weights alone.
	folded := func(name, shape, call string, weights ...nd) {
		cases[name+" folded"] = weightedCase{"tensor<fp16, " + shape + "> x", weights,
			fmt.Sprintf("tensor<fp16, %s> c = %s;\ntensor<fp16, %[1]s> y = mul(x = x, y = c);", shape, call), "y"}
	}
	for _, op := range []string{"min", "prod", "l1_norm", "l2_norm", "log_sum", "log_sum_exp", "sum_square"} {
		folded(op, "[1, 3]", "reduce_"+op+"(x = w0, axes = tensor<int32, [1]>([0]), keep_dims = bool(true))",
			half(5, 3))
	}
	for _, op := range []string{"reduce_argmax", "reduce_argmin"} {
		cases[op] = weightedCase{"tensor<fp16, [4, 9]> x", []nd{half(4, 9)},
			"tensor<fp16, [4, 9]> a = add(x = x, y = w0);\n" +
				"tensor<int32, [4]> y = " + op + "(x = a);", "y"}
	}
	on("batch norm", img, "[1, 2, 5, 5]", "batch_norm(x = x, mean = w0, variance = w1, gamma = w2, beta = w3)", half(2),
		half(2), half(2), half(2))
	on("instance norm", img, "[1, 2, 5, 5]", "instance_norm(x = x, gamma = w0, beta = w1)", half(2), half(2))
	folded("l2 norm", "[1, 2, 3]", "l2_norm(x = w0)", half(1, 2, 3))
	folded("local response norm", "[1, 2, 3]", "local_response_norm(x = w0, size = int32(3))", half(1, 2, 3))
	on("conv transpose", img, "[1, 3, 6, 6]", "conv_transpose(x = x, weight = w0, bias = w1)", half(2, 3, 2, 2),
		half(3))
	folded("l2 pool", "[1, 2, 2, 2]", "l2_pool(x = w0, kernel_sizes = tensor<int32, [2]>([2, 2]))", half(1, 2, 3, 3))
	on("einsum", "tensor<fp16, [2, 3, 4]> x", "[2, 3, 5]",
		`einsum(values = (x, w0), equation = string("chw,whr->chr"))`,
		half(4, 3, 5))
	on("attention", "tensor<fp16, [1, 3, 4]> x", "[1, 3, 2]",
		"scaled_dot_product_attention(query = x, key = w0, value = w1, attn_mask = w2)", half(1, 5, 4), half(1, 5, 2),
		half(3, 5))
	folded("upsample nearest", "[1, 4, 9]", "upsample_nearest_neighbor(x = w0, scale_factor_height = int32(2), "+
		"scale_factor_width = int32(3))", half(1, 2, 3))
	folded("upsample bilinear", "[1, 4, 9]", "upsample_bilinear(x = w0, scale_factor_height = int32(2), "+
		"scale_factor_width = int32(3))", half(1, 2, 3))
	folded("resize nearest", "[1, 4, 7]", "resize_nearest_neighbor(x = w0, target_size_height = int32(4), "+
		"target_size_width = int32(7))", half(1, 2, 3))
	folded("resize bilinear", "[1, 4, 7]", "resize_bilinear(x = w0, target_size_height = int32(4), "+
		"target_size_width = int32(7))", half(1, 2, 3))
	folded("resize", "[1, 4, 7]", "resize(x = w0, shape = tensor<int32, [2]>([4, 7]), resized_dims = uint32(2))",
		half(1, 2, 3))
	on("crop resize", img, "[1, 2, 3, 3]", "crop_resize(x = x, boxes = w0, target_height = int32(3), "+
		"target_width = int32(3))", half(1, 4))
	const sampler = `, sampling_mode = string("bilinear"), padding_mode = string("border"), padding_value = fp16(0), ` +
		`coordinates_mode = string("unnormalized"), align_corners = bool(true))`
	on("affine", img, "[1, 2, 3, 3]", "affine(x = x, transform_matrix = w0, output_height = int32(3), "+
		"output_width = int32(3)"+sampler, half(1, 6))
	on("resample", img, "[1, 2, 2, 3]", "resample(x = x, coordinates = w0"+sampler, half(1, 2, 3, 2))
	const rows = "tensor<fp16, [3, 2, 4]> x"
	cases["lstm"] = weightedCase{rows, []nd{half(2, 2), half(2, 2), half(8, 4), half(8, 2), half(8)},
		"tensor<fp16, [1, 2, 2]> y, tensor<fp16, [2, 2]> z, tensor<fp16, [2, 2]> u = lstm(x = x, initial_h = w0, " +
			"initial_c = w1, weight_ih = w2, weight_hh = w3, bias = w4);", "y, u"}
	cases["gru"] = weightedCase{rows, []nd{half(2, 2), half(6, 4), half(6, 2), half(6)},
		"tensor<fp16, [1, 2, 2]> y, tensor<fp16, [2, 2]> z = gru(x = x, initial_h = w0, weight_ih = w1, weight_hh = " +
			"w2, " +
			"bias = w3);", "y"}
	cases["rnn"] = weightedCase{rows, []nd{half(2, 2), half(2, 4), half(2, 2), half(2)},
		"tensor<fp16, [1, 2, 2]> y, tensor<fp16, [2, 2]> z = rnn(x = x, initial_h = w0, weight_ih = w1, weight_hh = " +
			"w2, " +
			"bias = w3);", "y"}
	return cases
}
