package soft_test

import (
	"fmt"

	"github.com/anekit/anekit/ane/mil"
)

// movingCases are weightedCases of the operators that move, index, order and generate elements, and of states.
func movingCases() map[string]weightedCase {
	cases := map[string]weightedCase{}
	// made has the operator on the weight alone, where it is folded, and on its sum with x.
	made := func(name, call string, w nd, result string) {
		params := fmt.Sprintf("tensor<fp16, %s> x", ints(w.shape))
		cases[name+" folded"] = weightedCase{"tensor<fp16, " + result + "> x", []nd{w},
			fmt.Sprintf("tensor<fp16, %s> c = %s;\ntensor<fp16, %[1]s> y = mul(x = x, y = c);", result,
				fmt.Sprintf(call, "w0")), "y"}
		cases[name] = weightedCase{params, []nd{w},
			fmt.Sprintf("tensor<fp16, %s> d = add(x = x, y = w0);\ntensor<fp16, %s> "+
				"y = %s;", ints(w.shape), result, fmt.Sprintf(call, "d")), "y"}
	}
	made("flatten2d", "flatten2d(x = %s)", half(2, 3, 2), "[2, 6]")
	made("reshape_like", "reshape_like(x = %s, ref_tensors = (x), begins = (int32(0)), ends = (int32(0)), end_masks = "+
		"(bool(true)))", half(2, 3), "[2, 3]")
	made("tile", "tile(x = %s, reps = "+intVec(2, 1)+")", half(2, 3), "[4, 3]")
	made("reverse", "reverse(x = %s)", half(2, 3), "[2, 3]")
	made("reverse_sequence", "reverse_sequence(x = %s, lengths = "+intVec(2, 1)+", seq_axis = int32(1))", half(2, 3),
		"[2, 3]")
	made("crop", "crop(x = %s, crop_height = "+intVec(1, 0)+", crop_width = "+intVec(0, 1)+")", half(1, 1, 3, 3),
		"[1, 1, 2, 2]")
	made("sliding_windows", "sliding_windows(x = %s, axis = int32(0), size = int32(2))", half(4), "[3, 2]")
	made("depth_to_space", "depth_to_space(x = %s, block_size = int32(2))", half(1, 4, 1, 3), "[1, 1, 2, 6]")
	made("pixel_shuffle", "pixel_shuffle(x = %s, upscale_factor = int32(2))", half(1, 4, 1, 3), "[1, 1, 2, 6]")
	made("space_to_depth", "space_to_depth(x = %s, block_size = int32(2))", half(1, 1, 2, 6), "[1, 4, 1, 3]")
	made("pixel_unshuffle", "pixel_unshuffle(x = %s, downscale_factor = int32(2))", half(1, 1, 2, 6), "[1, 4, 1, 3]")
	const matrix = "tensor<int32, [2, 2]>([[0, 1], [1, 0]])"
	made("space_to_batch", "space_to_batch(x = %s, block_shape = "+intVec(2, 2)+", paddings = "+matrix+")",
		half(1, 2, 3, 3), "[4, 2, 2, 2]")
	made("batch_to_space", "batch_to_space(x = %s, block_shape = "+intVec(2, 2)+", crops = "+matrix+")",
		half(4, 2, 2, 2), "[1, 2, 3, 3]")
	made("stack", "stack(values = (%s, w0), axis = int32(1))", half(3), "[3, 2]")
	made("band_part", "band_part(x = %s, lower = int32(0))", half(3, 3), "[3, 3]")
	made("cumsum", "cumsum(x = %s)", half(3, 3), "[3, 3]")
	made("gather", "gather(x = %s, indices = "+intVec(1, 0, 1)+")", half(2, 3), "[3, 3]")
	made("gather_along_axis", "gather_along_axis(x = %s, indices = "+intVec(1, 0, 1)+")", half(2), "[3]")
	made("gather_nd", "gather_nd(x = %s, indices = "+intVec(1, 0)+")", half(2, 3, 2), "[2]")
	made("scatter", "scatter(data = %s, indices = "+intVec(1, 1)+", updates = w0)", half(2, 3), "[2, 3]")
	made("scatter_along_axis", "scatter_along_axis(data = %s, indices = "+intVec(1, 0)+", updates = w0)", half(2),
		"[2]")
	made("scatter_nd", "scatter_nd(data = %s, indices = tensor<int32, [2, 1]>([1, 1]), updates = w0)", half(2, 3),
		"[2, 3]")
	made("slice_update", "slice_update(x = %s, update = w0, begin = "+intVec(0, 0)+", end = "+intVec(2, 6)+
		", stride = "+
		intVec(1, 1)+")", half(2, 6), "[2, 6]")
	const x23 = "tensor<fp16, [2, 3]> x"
	cases["non_maximum_suppression"] = weightedCase{"tensor<fp16, [1, 2, 3]> x", []nd{half(1, 4, 3)},
		"tensor<fp16, [1, 4, 2]> y, tensor<fp16, [1, 2, 2]> s, tensor<int32, [1, 2]> i = non_maximum_suppression(" +
			"boxes = w0, iou_threshold = fp16(0.5), max_boxes = int32(2), scores = x);", "y, s, i"}
	cases["buffers"] = weightedCase{x23, []nd{half(2, 3)}, "tensor<fp16, [2, 3]> d = add(x = x, y = w0);\n" +
		"tensor_buffer<fp16, shape=[2, 3], strides=[32, 1]> b = tensor_to_tensor_buffer<ios17>(input = d, strides = " +
		"tensor<int64, [2]>([32, 1]));\ntensor<fp16, [2, 3]> y = tensor_buffer_to_tensor(input = b);\n" +
		"tensor_buffer<fp16, shape=[2, 3], strides=[32, 1]> z = tensor_to_tensor_buffer(input = y, strides = " +
		"tensor<int64, [2]>([32, 1]));", "z"}
	cases["control flow"] = weightedCase{x23, []nd{half(2, 3), half(3, 3)}, `
	list<tensor<fp16, [2, 3]>, 2> e = make_list(init_length = int32(2), elem_shape = (int32(2), int32(3)), dtype = string("fp16"));
	tensor<fp16, [2, 2, 3]> both = stack(values = (x, w0), axis = int32(0));
	list<tensor<fp16, [2, 3]>, 2> f = list_scatter(ls = e, indices = tensor<int32, [2]>([1, 0]), value = both);
	int32 k, list<tensor<fp16, [2, 3]>, 2> l, tensor<fp16, [2, 3]> h = while_loop(loop_vars = (int32(0), f, w0))
		test(int32 k, list<tensor<fp16, [2, 3]>, 2> l, tensor<fp16, [2, 3]> h) {
			int32 n = list_length(ls = l);
			bool m = less(x = k, y = n);
		} -> (m)
		step(int32 k, list<tensor<fp16, [2, 3]>, 2> l, tensor<fp16, [2, 3]> h) {
			tensor<fp16, [2, 3]> old = list_read(ls = l, index = k);
			tensor<fp16, [2, 3]> p = linear(x = h, weight = w1);
			tensor<fp16, [2, 3]> q = add(x = p, y = old);
			bool first = equal(x = k, y = int32(0));
			tensor<fp16, [2, 3]> r = cond(pred = first)
				yes() { tensor<fp16, [2, 3]> s = mul(x = q, y = w0); } -> (s)
				no() {} -> (q);
			list<tensor<fp16, [2, 3]>, 2> more = list_write(ls = l, index = k, value = r);
			int32 next = add(x = k, y = int32(1));
		} -> (next, more, r);
	tensor<fp16, [2, 2, 3]> all = list_gather(ls = l, indices = tensor<int32, [2]>([0, 1]));
	tensor<fp16, [2, 3]> sum = reduce_sum(x = all, axes = tensor<int32, [1]>([0]));
	tensor<fp16, [2, 3]> y = add(x = sum, y = h);`, "y"}
	cases["classify"] = weightedCase{x23, []nd{half(2, 3)}, "tensor<fp16, [2, 3]> d = add(x = x, y = w0);\n" +
		"string y, dict<string, fp64> p = classify(probabilities = d, classes = list<string, 6>((\"a\", \"b\", \"c\", " +
		"\"d\", \"e\", \"f\")));", "y, p"}
	cases["topk"] = weightedCase{x23, []nd{half(2, 3)}, "tensor<fp16, [2, 3]> d = add(x = x, y = w0);\n" +
		"tensor<fp16, [2, 2]> y, tensor<int32, [2, 2]> i = topk(x = d, k = int32(2));", "y, i"}
	cases["argsort"] = weightedCase{x23, []nd{half(2, 3)}, "tensor<int32, [2, 3]> i = argsort(x = w0);\n" +
		"tensor<fp16, [2, 3]> d = gather_along_axis(x = w0, indices = i, axis = int32(1));\n" +
		"tensor<fp16, [2, 3]> y = add(x = x, y = d);", "y, i"}
	cases["one_hot"] = weightedCase{x23, []nd{int32s(2), half(2, 3)},
		"tensor<fp16, [2, 3]> h = one_hot(indices = w0, " +
			"one_hot_vector_size = int32(3), on_value = fp16(1));\ntensor<fp16, [2, 3]> a = mul(x = h, y = w1);\n" +
			"tensor<fp16, [2, 3]> b = add(x = a, y = w1);\ntensor<fp16, [2, 3]> y = add(x = b, y = x);", "y"}
	cases["generators"] = weightedCase{x23, []nd{half(2, 3)}, "tensor<int32, [2]> s = shape(x = w0);\n" +
		"tensor<fp16, [2, 3]> f = fill(shape = s, value = fp16(2));\ntensor<fp16, [2, 3]> l = fill_like(ref_tensor = " +
		"w0, " +
		"value = fp16(3));\ntensor<fp16, [3]> r = range_1d(start = fp16(0), end = fp16(3), step = fp16(1));\n" +
		"tensor<int32, [2, 1]> n = non_zero(x = tensor<bool, [3]>([true, false, true]));\n" +
		"tensor<fp16, [2, 3]> a = mul(x = f, y = w0);\ntensor<fp16, [2, 3]> b = mul(x = a, y = l);\n" +
		"tensor<fp16, [2, 3]> c = add(x = b, y = r);\ntensor<fp16, [2, 3]> y = mul(x = c, y = x);", "y, n"}
	cases["random"] = weightedCase{x23, []nd{half(2, 3)}, "tensor<int32, [2]> s = shape(x = w0);\n" +
		"tensor<fp16, [2, 3]> a = random_uniform(shape = s, low = fp16(0.25), seed = int32(1));\n" +
		"tensor<fp16, [2, 3]> b = random_normal(shape = s, mean = fp16(1), seed = int32(2));\n" +
		"tensor<fp16, [2, 3]> c = random_bernoulli(shape = s, prob = fp16(0.5), seed = int32(3));\n" +
		"tensor<fp16, [2, 3]> d = random_categorical(x = x, size = int32(3), seed = int32(4));\n" +
		"tensor<fp16, [2, 3]> e = mul(x = a, y = w0);\ntensor<fp16, [2, 3]> f = add(x = e, y = b);\n" +
		"tensor<fp16, [2, 3]> g = add(x = f, y = c);\ntensor<fp16, [2, 3]> y = add(x = g, y = d);", "y"}
	held := half(2, 3)
	cases["states"] = weightedCase{"state<" + tensorType(mil.FP16, held.shape) + "> s, " + x23,
		[]nd{half(2, 3), half(2, 3)},
		"\nwrite_state(input = s, data = w0);\ntensor<fp16, [2, 3]> a = read_state(input = s);\n" +
			"tensor<fp16, [2, 3]> b = coreml_update_state(state = s, value = w1);\n" +
			"tensor<fp16, [2, 3]> c = mul(x = a, y = b);\ntensor<fp16, [2, 3]> y = add(x = c, y = x);", "y"}
	return cases
}
