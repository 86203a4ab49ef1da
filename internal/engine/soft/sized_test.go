package soft

import (
	"fmt"
	"math/bits"
	"strings"
)

// sized is an operator of many sizes: {a} stands for the first of them, {a*2}, {a*4}, {a/2} and {a+64} for what follows
// from it.
type sized struct {
	params, body string
	sizes        []int
	units        func(d []int) int // its elements, or its products, as the operator is defined; nil for those of sizes
	unfolded     bool              // compiling may not compute it
	often        bool              // checks its context more often
}

func (s *sized) text(d []int) string {
	var list []string
	for i, n := range d {
		a := string(rune('a' + i))
		for form, n := range map[string]int{"": n, "*2": n * 2, "*4": n * 4, "/2": n / 2, "+64": n + 64} {
			list = append(list, "{"+a+form+"}", fmt.Sprint(n))
		}
	}
	r := strings.NewReplacer(list...)
	return "program(1.3)\n{ func main<ios18>(" + r.Replace(s.params) + ") {\n" + r.Replace(s.body) + "\n} -> (y); }"
}

// unaryOf returns an operator on halves whose result has the shape of x.
func unaryOf(shape, call string, sizes ...int) sized {
	k := "tensor<fp16, " + shape + "> "
	return sized{params: k + "x", body: k + "y = " + call + ";", sizes: sizes}
}

var sizedOperators = map[string]sized{
	"relu":          unaryOf("[{a}, {b}]", "relu(x = x)", 64, 512),
	"tanh":          unaryOf("[{a}, {b}]", "tanh(x = x)", 64, 512),
	"clip":          unaryOf("[{a}, {b}]", "clip(x = x, alpha = fp16(-1), beta = fp16(2))", 64, 512),
	"add":           unaryOf("[{a}, {b}]", "add(x = x, y = x)", 64, 512),
	"pow":           unaryOf("[{a}, {b}]", "pow(x = x, y = x)", 64, 512),
	"softmax":       unaryOf("[{a}, {b}]", "softmax(x = x, axis = int32(-1))", 64, 512),
	"softmax 0":     unaryOf("[{a}, {b}]", "softmax(x = x, axis = int32(0))", 64, 512),
	"layer_norm":    unaryOf("[{a}, {b}]", "layer_norm(x = x, axes = tensor<int32, [1]>([1]))", 64, 512),
	"layer_norm 0":  unaryOf("[{a}, {b}]", "layer_norm(x = x, axes = tensor<int32, [1]>([0]))", 64, 512),
	"instance_norm": unaryOf("[1, {a}, 4, {b}]", "instance_norm(x = x)", 16, 512),
	"batch_norm": {params: "tensor<fp16, [1, {a}, {b}]> x", sizes: []int{16, 512},
		body: "tensor<fp16, [{a}]> c = fill(shape = tensor<int32, [1]>([{a}]), value = fp16(2));" +
			"tensor<fp16, [1, {a}, {b}]> y = batch_norm(x = x, mean = c, variance = c);"},
	"l2_norm":             unaryOf("[{a}, 2, 4, {b}]", "l2_norm(x = x)", 16, 512),
	"local_response_norm": unaryOf("[1, {a}, 4, {b}]", "local_response_norm(x = x, size = int32(3))", 16, 512),
	"cumsum":              unaryOf("[{a}, {b}]", "cumsum(x = x, axis = int32(1))", 64, 512),
	"cumsum 0":            unaryOf("[{a}, {b}]", "cumsum(x = x, axis = int32(0))", 64, 512),
	"band_part":           unaryOf("[{a}, {b}]", "band_part(x = x, lower = int32(1), upper = int32(1))", 64, 512),
	"reverse":             unaryOf("[{a}, {b}]", "reverse(x = x, axes = tensor<int32, [1]>([1]))", 64, 512),
	"prelu":               unaryOf("[{a}, 1, {b}]", "prelu(x = x, alpha = tensor<fp16, [1]>([2]))", 64, 512),
	"softplus_parametric": unaryOf("[1, 1, {a}, {b}]", "softplus_parametric(x = x, "+
		"alpha = tensor<fp16, [1]>([2]), beta = tensor<fp16, [1]>([3]))", 64, 512),
	"reduce_argmax": {params: halves2, body: "tensor<int32, [{a}, 1]> y = reduce_argmax(x = x, axis = int32(1), " +
		"keep_dims = bool(true));", sizes: []int{64, 512}},
	"reduce_argmax 0": {params: halves2, body: "tensor<int32, [1, {b}]> y = reduce_argmax(x = x, axis = int32(0), " +
		"keep_dims = bool(true));", sizes: []int{64, 512}},
	"reduce_sum":           reduceOf("reduce_sum", 1, "fp16"),
	"reduce_sum 0":         reduceOf("reduce_sum", 0, "fp16"),
	"reduce_max":           reduceOf("reduce_max", 1, "fp16"),
	"reduce_max 0":         reduceOf("reduce_max", 0, "fp16"),
	"reduce_prod":          reduceOf("reduce_prod", 1, "fp16"),
	"reduce_prod 0":        reduceOf("reduce_prod", 0, "fp16"),
	"reduce_log_sum_exp":   reduceOf("reduce_log_sum_exp", 1, "fp16"),
	"reduce_log_sum_exp 0": reduceOf("reduce_log_sum_exp", 0, "fp16"),
	"reduce_sum 32":        reduceOf("reduce_sum", 1, "fp32"),
	"reduce_sum int":       reduceOf("reduce_sum", 1, "int32"),
	"reduce_sum int 0":     reduceOf("reduce_sum", 0, "int32"),
	"reduce_sum short": {params: "tensor<fp16, [{a}, 4]> x", sizes: []int{4096},
		body:  "tensor<fp16, [{a}, 1]> y = reduce_sum(x = x, axes = tensor<int32, [1]>([1]), keep_dims = bool(true));",
		units: func(d []int) int { return 4 * d[0] }, often: true},
	"cast": {params: halves2, body: "tensor<fp32, [{a}, {b}]> y = cast(x = x, dtype = string(\"fp32\"));",
		sizes: []int{64, 512}},
	"greater": {params: halves2, body: "tensor<bool, [{a}, {b}]> y = greater(x = x, y = fp16(1));",
		sizes: []int{64, 512}},
	"greater int": {params: "tensor<int32, [{a}, {b}]> x", sizes: []int{64, 512},
		body: "tensor<bool, [{a}, {b}]> y = greater(x = x, y = int32(1));"},
	"logical_not": {params: halves2, sizes: []int{64, 512},
		body: "tensor<bool, [{a}, {b}]> a = cast(x = x, dtype = string(\"bool\"));" +
			"tensor<bool, [{a}, {b}]> y = logical_not(x = a);"},
	"logical_and": {params: halves2, sizes: []int{64, 512},
		body: "tensor<bool, [{a}, {b}]> a = cast(x = x, dtype = string(\"bool\"));" +
			"tensor<bool, [{a}, {b}]> y = logical_and(x = a, y = a);"},
	"select": {params: halves2, sizes: []int{64, 512},
		body: "tensor<bool, [{a}, {b}]> a = greater(x = x, y = fp16(1));" +
			"tensor<fp16, [{a}, {b}]> y = select(cond = a, a = x, b = fp16(3));"},
	"mul int": {params: "tensor<int32, [{a}, {b}]> x", sizes: []int{64, 512},
		body: "tensor<int32, [{a}, {b}]> y = mul(x = x, y = int32(3));"},
	"abs int": {params: "tensor<int32, [{a}, {b}]> x", sizes: []int{64, 512},
		body: "tensor<int32, [{a}, {b}]> y = abs(x = x);"},
	"tanh 32": {params: "tensor<fp32, [{a}, {b}]> x", sizes: []int{64, 512},
		body: "tensor<fp32, [{a}, {b}]> y = tanh(x = x);"},
	"add 32": {params: "tensor<fp32, [{a}, {b}]> x", sizes: []int{64, 512},
		body: "tensor<fp32, [{a}, {b}]> y = add(x = x, y = x);"},
	"layer_norm 32": {params: "tensor<fp32, [{a}, {b}]> x", sizes: []int{64, 512},
		body: "tensor<fp32, [{a}, {b}]> y = layer_norm(x = x, axes = tensor<int32, [1]>([1]));"},
	"softmax 32": {params: "tensor<fp32, [{a}, {b}]> x", sizes: []int{64, 512},
		body: "tensor<fp32, [{a}, {b}]> y = softmax(x = x, axis = int32(-1));"},
	"fill_like": {params: halves2, body: "tensor<fp16, [{a}, {b}]> y = fill_like(ref_tensor = x, " +
		"value = fp16(3));", sizes: []int{64, 2048}, unfolded: true},
	"range_1d": {params: "tensor<fp16, [32]> x", sizes: []int{65536}, unfolded: true,
		body: "tensor<fp32, [{a}]> y = range_1d(start = fp32(0), end = fp32({a}), step = fp32(1));"},
	"one_hot": {params: "tensor<int32, [{a}]> x", sizes: []int{64, 512},
		body: "tensor<fp16, [{a}, {b}]> y = one_hot(indices = x, one_hot_vector_size = int32({b}), " +
			"axis = int32(-1), on_value = fp16(1), off_value = fp16(0));"},
	"one_hot 0": {params: "tensor<int32, [{b}]> x", sizes: []int{64, 512},
		body: "tensor<fp16, [{a}, {b}]> y = one_hot(indices = x, one_hot_vector_size = int32({a}), " +
			"axis = int32(0), on_value = fp16(1), off_value = fp16(0));"},
	"gather": {params: "tensor<fp16, [8, {b}]> x, tensor<int32, [{a}]> i", sizes: []int{1024, 64},
		body: "tensor<fp16, [{a}, {b}]> y = gather(x = x, indices = i, axis = int32(0));"},
	"gather of elements": {params: "tensor<fp16, [32]> x, tensor<int32, [{a}]> i", sizes: []int{65536},
		body: "tensor<fp16, [{a}]> y = gather(x = x, indices = i, axis = int32(0));"},
	"gather in batches": {params: "tensor<fp16, [16, 32]> x, tensor<int32, [16, {a}]> i", sizes: []int{4096},
		body:  "tensor<fp16, [16, {a}]> y = gather(x = x, indices = i, axis = int32(1), batch_dims = int32(1));",
		units: func(d []int) int { return 16 * d[0] }},
	"gather of int8": {params: "tensor<int8, [32]> x, tensor<int32, [{a}]> i", sizes: []int{65536},
		body: "tensor<int8, [{a}]> y = gather(x = x, indices = i, axis = int32(0));"},
	"gather_nd": {params: "tensor<fp16, [8, 8, {b}]> x, tensor<int32, [{a}, 2]> i", sizes: []int{1024, 64},
		body: "tensor<fp16, [{a}, {b}]> y = gather_nd(x = x, indices = i);"},
	"gather_along_axis": {params: "tensor<fp16, [8, {b}]> x, tensor<int32, [{a}, {b}]> i", sizes: []int{1024, 64},
		body: "tensor<fp16, [{a}, {b}]> y = gather_along_axis(x = x, indices = i, axis = int32(0));"},
	"gather_along_axis int8": {params: "tensor<int8, [8, {b}]> x, tensor<int32, [{a}, {b}]> i",
		sizes: []int{1024, 64},
		body:  "tensor<int8, [{a}, {b}]> y = gather_along_axis(x = x, indices = i, axis = int32(0));"},
	"scatter": {params: "tensor<fp16, [8, {b}]> x, tensor<int32, [{a}]> i, tensor<fp16, [{a}, {b}]> u",
		sizes: []int{1024, 64}, body: "tensor<fp16, [8, {b}]> y = scatter(data = x, indices = i, updates = u, " +
			"axis = int32(0), mode = string(\"add\"));"},
	"scatter_along_axis": {sizes: []int{1024, 64},
		params: "tensor<fp16, [8, {b}]> x, tensor<int32, [{a}, {b}]> i, tensor<fp16, [{a}, {b}]> u",
		body: "tensor<fp16, [8, {b}]> y = scatter_along_axis(data = x, indices = i, updates = u, " +
			"axis = int32(0), mode = string(\"add\"));"},
	"topk": {params: halves2, sizes: []int{64, 1024, 16},
		body: "tensor<fp16, [{a}, {c}]> y, tensor<int32, [{a}, {c}]> z = topk(x = x, k = int32({c}), " +
			"axis = int32(1));", units: func(d []int) int { return d[0] * d[1] * bits.Len(uint(d[2])) }},
	"argsort": {params: halves2, sizes: []int{8, 4096},
		body:  "tensor<int32, [{a}, {b}]> y = argsort(x = x, axis = int32(1));",
		units: func(d []int) int { return d[0] * d[1] * bits.Len(uint(d[1])) }},
	"reverse_sequence": {params: "tensor<fp16, [{a}, {b}, 32]> x, tensor<int32, [{a}]> l", sizes: []int{16, 64},
		body: "tensor<fp16, [{a}, {b}, 32]> y = reverse_sequence(x = x, lengths = l, seq_axis = int32(1), " +
			"batch_axis = int32(0));", units: func(d []int) int { return 32 * d[0] * d[1] }},
	"transpose": {params: halves2, body: "tensor<fp16, [{b}, {a}]> y = transpose(x = x, " +
		"perm = tensor<int32, [2]>([1, 0]));", sizes: []int{64, 512}},
	"transpose of rows": {params: "tensor<fp16, [8, {a}, {b}]> x", sizes: []int{64, 512}, body: "tensor<fp16, " +
		"[{a}, 8, {b}]> y = transpose(x = x, perm = tensor<int32, [3]>([1, 0, 2]));"},
	"concat": {params: halves2, body: "tensor<fp16, [{a}, {b*2}]> y = concat(values = (x, x), axis = int32(1), " +
		"interleave = bool(false));", sizes: []int{64, 512}},
	"pad": {params: halves2, body: "tensor<fp16, [{a}, {b}]> a = abs(x = x);" +
		"tensor<fp16, [{a}, {b+64}]> y = pad(x = a, pad = tensor<int32, [4]>([0, 0, 32, 32]), " +
		"mode = string(\"reflect\"));", sizes: []int{64, 512}},
	"space_to_batch": {params: "tensor<fp16, [1, {a}, 64, {b}]> x", sizes: []int{4, 256},
		body: "tensor<fp16, [4, {a}, 32, {b/2}]> y = space_to_batch(x = x, block_shape = tensor<int32, [2]>([2, 2]), " +
			"paddings = tensor<int32, [2, 2]>([[0, 0], [0, 0]]));",
		units: func(d []int) int { return 64 * d[0] * d[1] }},
	"matmul":   matmulOf("", 64, 128, 256),
	"matmul 1": matmulOf("", 1, 512, 1024),
	"matmul transposed": {params: "tensor<fp16, [{a}, {b}]> x, tensor<fp16, [{c}, {b}]> z",
		sizes: []int{64, 128, 256}, body: "tensor<fp16, [{a}, {c}]> y = matmul(x = x, y = z, transpose_y = bool(true));"},
	"linear of one": {params: "tensor<fp16, [1, {a}]> x, tensor<fp16, [{b}, {a}]> w", sizes: []int{512, 1024},
		body: "tensor<fp16, [1, {b}]> y = linear(x = x, weight = w);"},
	"conv": {params: "tensor<fp16, [1, {a}, 16, 64]> x, tensor<fp16, [{b}, {a}, 3, 3]> w", sizes: []int{16, 32},
		body:  "tensor<fp16, [1, {b}, 16, 64]> y = conv(x = x, weight = w, pad_type = string(\"same\"));",
		units: func(d []int) int { return d[0] * d[1] * 9 * 16 * 64 }},
	"conv of four outputs of a channel": {params: "tensor<fp16, [1, {a}, 16, {b}]> x, tensor<fp16, [{a*4}, 1, 3, 3]> w",
		sizes: []int{16, 64}, body: "tensor<fp16, [1, {a*4}, 16, {b}]> y = conv(x = x, weight = w, " +
			"groups = int32({a}), pad_type = string(\"same\"));",
		units: func(d []int) int { return d[0] * 4 * d[1] * 9 * 16 }},
	"conv of channels": {params: "tensor<fp16, [1, {a}, 16, {b}]> x, tensor<fp16, [{a}, 1, 3, 3]> w",
		sizes: []int{16, 64}, body: "tensor<fp16, [1, {a}, 16, {b}]> y = conv(x = x, weight = w, " +
			"groups = int32({a}), pad_type = string(\"same\"));",
		units: func(d []int) int { return d[0] * d[1] * 9 * 16 }},
	"attention": {params: "tensor<fp16, [{a}, {b}, {c}]> q, tensor<fp16, [{a}, {d}, {c}]> k, " +
		"tensor<fp16, [{a}, {d}, {e}]> v", sizes: []int{4, 128, 64, 96, 32},
		body:  "tensor<fp16, [{a}, {b}, {e}]> y = scaled_dot_product_attention(query = q, key = k, value = v);",
		units: func(d []int) int { return d[0] * d[1] * d[3] * (d[2] + d[4] + 8) }},
	"lstm": {params: "tensor<fp16, [{a}, {b}, {c}]> x", sizes: []int{16, 4, 64, 32}, body: "" +
		"tensor<fp16, [{b}, {d}]> h = fill(shape = tensor<int32, [2]>([{b}, {d}]), value = fp16(0));" +
		"tensor<fp16, [{d*4}, {c}]> i = fill(shape = tensor<int32, [2]>([{d*4}, {c}]), value = fp16(0.5));" +
		"tensor<fp16, [{d*4}, {d}]> w = fill(shape = tensor<int32, [2]>([{d*4}, {d}]), value = fp16(0.5));" +
		"tensor<fp16, [{a}, {b}, {d}]> y, tensor<fp16, [{b}, {d}]> a, tensor<fp16, [{b}, {d}]> b = " +
		"lstm(x = x, initial_h = h, initial_c = h, weight_ih = i, weight_hh = w, output_sequence = bool(true));",
		units: func(d []int) int { return d[0] * d[1] * 4 * d[3] * (d[2] + d[3] + 8) }},
	"max_pool": poolOf("max_pool", 3),
	"avg_pool": poolOf("avg_pool", 3),
	"l2_pool":  poolOf("l2_pool", 3),
	"resize": {params: "tensor<fp16, [1, {a}, 16, {b}]> x", sizes: []int{4, 256}, body: "tensor<fp16, " +
		"[1, {a}, 32, {b}]> y = resize_bilinear(x = x, target_size_height = int32(32), " +
		"target_size_width = int32({b}));", units: func(d []int) int { return d[0] * d[1] * 32 }},
	"resize nearest": {params: "tensor<fp16, [1, {a}, 16, {b}]> x", sizes: []int{4, 256}, body: "tensor<fp16, " +
		"[1, {a}, 32, {b}]> y = resize_nearest_neighbor(x = x, target_size_height = int32(32), " +
		"target_size_width = int32({b}));", units: func(d []int) int { return d[0] * d[1] * 32 }},
	"crop_resize": {params: "tensor<fp16, [1, {a}, 64, 64]> x, tensor<fp16, [{b}, 4]> b, tensor<int32, [{b}]> i",
		sizes: []int{4, 8}, body: "tensor<fp16, [{b}, {a}, 32, 32]> y = crop_resize(x = x, boxes = b, " +
			"box_indices = i, target_height = int32(32), " +
			"target_width = int32(32));", units: func(d []int) int { return d[0] * d[1] * 1024 }},
	"quantize": {params: halves2, body: "tensor<int8, [{a}, {b}]> y = quantize(input = x, scale = fp16(0.5), " +
		"output_dtype = string(\"int8\"));", sizes: []int{64, 512}},
	"dequantize": {params: "tensor<int8, [{a}, {b}]> x", body: "tensor<fp16, [{a}, {b}]> y = " +
		"dequantize(input = x, scale = fp16(0.5));", sizes: []int{64, 512}},
	"random_uniform": {params: "tensor<fp16, [32]> x", sizes: []int{16, 512}, body: "tensor<fp16, [{a}, {b}]> y = " +
		"random_uniform(shape = tensor<int32, [2]>([{a}, {b}]), low = fp16(0), high = fp16(1), seed = int32(-1));"},
}

const halves2 = "tensor<fp16, [{a}, {b}]> x"

func reduceOf(op string, axis int, dtype string) sized {
	result := []string{"[1, {b}]", "[{a}, 1]"}[axis]
	return sized{params: "tensor<" + dtype + ", [{a}, {b}]> x", sizes: []int{64, 512}, body: "tensor<" + dtype +
		", " + result + "> y = " + op + fmt.Sprintf(
		"(x = x, axes = tensor<int32, [1]>([%d]), keep_dims = bool(true));", axis)}
}

func matmulOf(settings string, sizes ...int) sized {
	return sized{params: "tensor<fp16, [{a}, {b}]> x, tensor<fp16, [{b}, {c}]> z", sizes: sizes,
		body: "tensor<fp16, [{a}, {c}]> y = matmul(x = x, y = z" + settings + ");"}
}

func poolOf(op string, size int) sized {
	k := "tensor<fp16, [1, {a}, 32, {b}]> "
	return sized{params: k + "x", sizes: []int{16, 64}, body: k + "y = " + op + fmt.Sprintf(
		"(x = x, kernel_sizes = tensor<int32, [2]>([%[1]d, %[1]d]), pad_type = string(\"same\"));", size),
		units: func(d []int) int { return d[0] * d[1] * 32 * size * size }}
}
