package ops_test

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/anekit/anekit/internal/effort"
	"github.com/anekit/anekit/internal/ops"
	"github.com/stretchr/testify/require"
)

// programs has a valid call of every operator, and variations of settings.
var programs = []string{
	"add(x = x, y = x)", "sub(x = x, y = s)", "mul(x = i, y = i)", "real_div(x = x, y = x)", "pow(x = x, y = s)",
	"maximum(x = x, y = x)", "minimum(x = i, y = i)",
	"abs(x = i)", "relu(x = x)", "sqrt(x = x)", "exp(x = x)", "sigmoid(x = x)", "tanh(x = x)", "silu(x = x)",
	"rsqrt(x = x, epsilon = fp32(0x1p-10))", `gelu(x = x, mode = string("TANH_APPROXIMATION"))`,
	"reduce_sum(x = n, axes = tensor<int32, [2]>([0, -1]), keep_dims = bool(true))", "reduce_mean(x = x, axes = " +
		"tensor<int32, [1]>([1]))", "reduce_max(x = i)",
	"reduce_min(x = x)", "reduce_prod(x = i)", "reduce_l1_norm(x = n, axes = tensor<int32, [1]>([-2]))", "reduce_l2_norm(x = f)",
	"reduce_log_sum(x = x)", "reduce_log_sum_exp(x = x, axes = tensor<int32, [1]>([0]))", "reduce_sum_square(x = x)",
	`reduce_argmax(x = x, axis = int32(0), keep_dims = bool(true), output_dtype = string("uint16"))`, "reduce_argmin(x = i)",
	"softmax(x = x, axis = int32(0))", "layer_norm(x = x, axes = tensor<int32, [1]>([-1]), epsilon = fp16(0.5))",
	"batch_norm(x = n, mean = q, variance = q, gamma = q, beta = q, epsilon = fp16(0.5))", "instance_norm(x = n, " +
		"gamma = q)",
	"l2_norm(x = n, epsilon = fp16(1))", "local_response_norm(x = n, size = int32(3), alpha = fp16(1))",
	"matmul(x = x, y = w, transpose_x = bool(false), transpose_y = bool(true))", "linear(x = x, weight = w)",
	`conv(x = img, weight = k, strides = tensor<int32, [2]>([1, 2]), pad_type = string("custom"), pad = tensor<int32, [4]>([1, 0, 0, 1]), dilations = tensor<int32, [2]>([1, 1]), groups = int32(1))`,
	"matmul(x = q, y = n)", "linear(x = x, weight = w, bias = tensor<fp16, [4]>([1, 2, 3, 4]))",
	`einsum(values = (n, p), equation = string("abc,dbc->ad"))`, "scaled_dot_product_attention(query = n, key = n, " +
		"value = n, attn_mask = q)",
	"upsample_nearest_neighbor(x = n, scale_factor_height = int32(2), scale_factor_width = int32(3))",
	"upsample_bilinear(x = n, scale_factor_height = fp32(2), scale_factor_width = fp32(3), " +
		"align_corners = bool(false))",
	"resize_nearest_neighbor(x = n, target_size_height = int32(3), target_size_width = int32(5))",
	`resize_bilinear(x = n, target_size_height = int32(3), target_size_width = int32(5), sampling_mode = string("OFFSET_CORNERS"))`,
	"resize(x = img, shape = tensor<int32, [3]>([4, 0, 5]), resized_dims = uint32(2))",
	"crop_resize(x = img, boxes = const(val = tensor<fp16, [1, 4]>([0, 0, 1, 1])), target_height = int32(3), " +
		"target_width = int32(2), spatial_scale = fp16(0.5))",
	`affine(x = img, transform_matrix = const(val = tensor<fp16, [1, 6]>([1, 0, 0, 0, 1, 0])), output_height = int32(3), output_width = int32(2), sampling_mode = string("bilinear"), padding_mode = string("constant"), padding_value = fp16(0), coordinates_mode = string("unnormalized"), align_corners = bool(true))`,
	`resample(x = img, coordinates = const(val = tensor<fp16, [1, 1, 1, 2]>([1, 1])), sampling_mode = string("nearest"), padding_mode = string("constant"), padding_value = fp16(0), coordinates_mode = string("unnormalized"), align_corners = bool(true))`,
	`lstm(x = n, initial_h = tensor<fp16, [2, 1]>([0, 0]), initial_c = tensor<fp16, [2, 1]>([0, 0]), weight_ih = tensor<fp16, [4, 2]>([1, 2, 3, 4, 5, 6, 7, 8]), weight_hh = tensor<fp16, [4, 1]>([1, 2, 3, 4]), clip = fp16(1), direction = string("reverse"))`,
	`gru(x = n, initial_h = tensor<fp16, [2, 1]>([0, 0]), weight_ih = tensor<fp16, [3, 2]>([1, 2, 3, 4, 5, 6]), weight_hh = tensor<fp16, [3, 1]>([1, 2, 3]), activation = string("relu"))`,
	`rnn(x = n, initial_h = tensor<fp16, [2, 1]>([0, 0]), weight_ih = tensor<fp16, [1, 2]>([1, 2]), weight_hh = tensor<fp16, [1, 1]>([1]), output_sequence = bool(true))`,
	`conv_transpose(x = img, weight = const(val = tensor<fp16, [2, 1, 1, 1]>([1, 2])), strides = tensor<int32, [2]>([2, 1]), pad_type = string("custom"), pad = tensor<int32, [4]>([1, 0, 0, 1]), dilations = tensor<int32, [2]>([1, 1]), groups = int32(1), output_shape = tensor<int32, [4]>([1, 1, 5, 2]))`,
	`l2_pool(x = n, kernel_sizes = tensor<int32, [1]>([2]))`,
	`max_pool(x = img, kernel_sizes = tensor<int32, [2]>([2, 2]), strides = tensor<int32, [2]>([1, 1]), pad_type = string("same"), ceil_mode = bool(true))`,
	`avg_pool(x = n, kernel_sizes = tensor<int32, [1]>([2]), exclude_padding_from_average = bool(true))`,
	"reshape(x = x, shape = tensor<int32, [2]>([-1, 2]))", "transpose(x = x, perm = tensor<int32, [2]>([1, 0]))", "expand_dims(x = x, axes = tensor<int32, [1]>([0]))",
	"squeeze(x = r5)", "concat(values = (x, x), axis = int32(0), interleave = bool(true))",
	"flatten2d(x = n, axis = int32(-1))", "reshape(x = x, shape = tensor<int32, [3]>([0, 0, -1]))",
	"reshape_like(x = x, ref_tensors = (x, i), begins = (int32(0), int32(1)), ends = (int32(2), int32(-1)), " +
		"end_masks = (bool(true), bool(false)))",
	"stack(values = (x, x), axis = int32(1))", "tile(x = x, reps = tensor<int32, [2]>([2, 1]))",
	"reverse(x = x, axes = tensor<int32, [2]>([0, -1]))", "reverse_sequence(x = x, lengths = tensor<int16, [3]>([0, " +
		"1, 2]), seq_axis = int32(0), batch_axis = int32(1))",
	"crop(x = img, crop_height = tensor<int32, [2]>([1, 0]), crop_width = tensor<int32, [2]>([1, 1]))", "sliding_windows(x = x, axis = int32(1), size = int32(2), stride = int32(1))",
	"depth_to_space(x = big, block_size = int32(1))", "space_to_depth(x = big, block_size = int32(2))",
	"pixel_shuffle(x = big, upscale_factor = int32(1))", "pixel_unshuffle(x = big, downscale_factor = int32(2))",
	"space_to_batch(x = big, block_shape = tensor<int32, [2]>([2, 3]), paddings = tensor<int32, [2, 2]>([[1, 1], [1, " +
		"1]]))",
	"batch_to_space(x = big, block_shape = tensor<int32, [2]>([2, 2]), crops = tensor<int32, [2, 2]>([[1, 1], [0, 1]]))",
	"shape(x = x)", "fill(shape = tensor<int32, [2]>([2, 3]), value = fp16(1))", "fill_like(ref_tensor = x, value = " +
		"int8(3))",
	"range_1d(start = fp16(1), end = fp16(7), step = fp16(2))", "band_part(x = x, lower = int32(1), upper = int32(-1))",
	"one_hot(indices = i, one_hot_vector_size = int32(3), axis = int32(-1), on_value = fp16(1), off_value = fp16(0))",
	"cumsum(x = x, axis = int32(1), exclusive = bool(true), reverse = bool(true))", "non_zero(x = tensor<fp16, " +
		"[3]>([0, 3, 1]))",
	"slice_update(x = x, update = s, begin = tensor<int32, [2]>([0, 1]), end = tensor<int32, [2]>([1, 2]), " +
		"squeeze_mask = tensor<bool, [2]>([true, true]))",
	"slice_update(x = i, update = i, begin = ix, end = ix, stride = tensor<int32, [1]>([-1]))", "slice_by_size(x = i, begin = ix, size = tensor<int32, [1]>([2]))",
	"slice_by_index(x = i, begin = ix, end = ix, squeeze_mask = tensor<bool, [1]>([true]))",
	"read_state(input = st)", "write_state(input = st, data = q)", "coreml_update_state(state = st, value = q)",
	"gather(x = n, indices = i, axis = int32(1), batch_dims = int32(0), validate_indices = bool(true))", "gather(x = x, indices = tensor<int16, [2]>([0, 1]), validate_indices = bool(true))",
	"gather_along_axis(x = i, indices = i, axis = int32(-1), validate_indices = bool(false))",
	"gather_nd(x = x, indices = ix, batch_dims = int32(0), validate_indices = bool(true))",
	`scatter(data = i, indices = ix, updates = ix, axis = int32(0), mode = string("max"), validate_indices = bool(true))`, `scatter_along_axis(data = i, indices = i, updates = i, axis = int32(0), mode = string("update"))`,
	`scatter_nd(data = x, indices = ix, updates = f16row, mode = string("div"))`,
	`topk(x = x, k = int32(2), axis = int32(1), ascending = bool(true), sort = bool(false), output_indices_dtype = string("uint16"))`, `topk(x = x, return_indices = bool(false))`,
	"argsort(x = x, axis = int32(1), ascending = bool(true))",
	"random_uniform(shape = tensor<int32, [2]>([2, 3]), low = fp16(0), high = fp16(1), seed = int32(-1))", "random_normal(shape = tensor<int32, [2]>([2, 3]), seed = int32(3))",
	"random_bernoulli(shape = tensor<int32, [1]>([2]), prob = fp16(0.5))", `random_categorical(x = x, mode = string("probs"), size = int32(3), seed = int32(1))`,
	"slice_by_index(x = x, begin = tensor<int32, [2]>([0, -1]), end = tensor<int32, [2]>([2, -9]), stride = " +
		"tensor<int32, [2]>([1, -1]), squeeze_mask = tensor<bool, [2]>([true, false]))",
	"slice_by_size(x = x, begin = tensor<int32, [2]>([0, 1]), size = tensor<int32, [2]>([1, -1]))",
	`pad(x = x, pad = tensor<int32, [2]>([1, 2]), mode = string("reflect"), constant_val = fp16(1))`,
	`cast(x = x, dtype = string("int8"))`, "split(x = x, split_sizes = tensor<int32, [2]>([1, 1]), axis = int32(0))", "split(x = x, num_splits = int32(3), axis = int32(1))",
	"ceil(x = x)", "floor(x = x)", "round(x = x)", "sign(x = x)", "square(x = x)", "exp2(x = x)", "erf(x = x)",
	"neg(x = x)", "sin(x = x)", "cos(x = x)", "tan(x = x)", "asin(x = x)", "acos(x = x)", "atan(x = x)",
	"sinh(x = x)", "cosh(x = x)", "asinh(x = x)", "acosh(x = x)", "atanh(x = x)", "identity(x = x)",
	"relu6(x = x)", "softsign(x = x)", "softplus(x = x)", "log(x = x, epsilon = fp32(0.5))", "inverse(x = x)",
	"logical_not(x = b)", "threshold(x = i, alpha = int32(2))", "elu(x = x, alpha = fp16(0.5))",
	"leaky_relu(x = x, alpha = fp16(0.5))", "thresholded_relu(x = x, alpha = fp16(0.5))",
	"clip(x = x, alpha = fp16(0.5), beta = fp16(2))", "clamped_relu(x = x, alpha = fp16(0.5), beta = fp16(2))",
	"scaled_tanh(x = x, alpha = fp16(0.5), beta = fp16(2))",
	"sigmoid_hard(x = x, alpha = fp16(0.5), beta = fp16(2))",
	"linear_activation(x = x, alpha = fp16(0.5), beta = fp16(2))", "prelu(x = img, alpha = q)",
	"softplus_parametric(x = img, alpha = q, beta = q)",
	"floor_div(x = x, y = x)", "mod(x = x, y = x)", "greater(x = x, y = x)", "greater_equal(x = x, y = x)",
	"less(x = x, y = x)", "less_equal(x = x, y = x)", "equal(x = x, y = x)", "not_equal(x = x, y = x)",
	"logical_and(x = b, y = b)", "logical_or(x = b, y = b)", "logical_xor(x = b, y = b)",
	"select(cond = bool(true), a = x, b = s)",
	`quantize(input = x, scale = fp16(0.5), output_dtype = string("int8"))`,
	`quantize(input = x, scale = q, axis = int32(0), zero_point = tensor<uint8, [2]>([3, 4]), output_dtype = string("uint8"))`,
	`dequantize(input = tensor<int8, [2, 3]>([1, 2, 3, 4, 5, 6]), scale = f, axis = int32(-1))`,
	`constexpr_cast(source_val = fp16(2), output_dtype = string("fp32"))`,
	`constexpr_affine_dequantize(quantized_data = tensor<int8, [2]>([1, 2]), scale = fp16(2), zero_point = int8(1), axis = int32(0))`,
	`constexpr_blockwise_shift_scale(data = tensor<int4, [4]>([1, 2, 3, -8]), scale = tensor<fp16, [2]>([1, 2]), offset = tensor<int4, [2]>([1, -1]))`,
	`constexpr_lut_to_dense(indices = tensor<uint8, [1]>([27]), lut = tensor<fp16, [4]>([1, 2, 3, 4]), shape = tensor<uint32, [2]>([2, 2]))`,
	`constexpr_lut_to_dense(indices = tensor<uint1, [2]>([1, 0]), lut = tensor<fp16, [2, 2, 2]>([1, 2, 3, 4, 5, 6, 7, 8]), vector_axis = int32(0))`,
	`constexpr_sparse_to_dense(nonzero_data = tensor<int8, [2]>([3, 4]), mask = tensor<uint8, [1]>([5]), shape = tensor<uint32, [1]>([3]))`,
	`constexpr_sparse_to_dense(nonzero_data = tensor<int8, [2]>([3, 4]), mask = tensor<uint1, [3]>([1, 0, 1]))`,
	`constexpr_lut_to_sparse(indices_mask = tensor<uint1, [2]>([1, 0]), indices_nonzero_data = tensor<uint1, [1]>([1]), lut = tensor<fp16, [1, 2, 1]>([1, 2]))`,
	`constexpr_sparse_blockwise_shift_scale(data_mask = tensor<uint1, [4]>([1, 1, 0, 0]), nonzero_data = tensor<int8, [2]>([5, 6]), scale = tensor<fp16, [2]>([1, 2]))`,
	`cast(x = tensor<int4, [2]>([7, -8]), dtype = string("int8"))`,
	"non_maximum_suppression(boxes = tensor<fp32, [1, 1, 4]>([1, 1, 1, 1]), scores = tensor<fp32, [1, 1, 2]>([1, 2]), " +
		"iou_threshold = fp32(0.5), score_threshold = fp32(0.25), max_boxes = int32(3))",
	"non_maximum_suppression(boxes = tensor<fp16, [1, 4, 1]>([1, 1, 1, 1]), scores = tensor<fp16, [1, 2, 1]>([1, 2]), " +
		"iou_threshold = fp16(0.5), max_boxes = int32(3), per_class_suppression = bool(true))",
	`classify(probabilities = f, classes = list<string, 3>(("a", "b", "c")))`,
	`classify(probabilities = q, classes = list<int64, 2>((3, 4)))`,
	"tensor_to_tensor_buffer(input = x, strides = tensor<int64, [2]>([32, 1]), interleave_factors = tensor<uint8, " +
		"[2]>([1, 1]))", "tensor_buffer_to_tensor(input = tb)",
	"frobnicate(x = x)",
}

// check checks that an analysis gives a graph whose shapes are within the limits, or
// faults that all have a place.
func check(t *testing.T, text string) {
	g, list := analyze(t, text, weights(t))
	if g != nil && len(list) > 0 {
		t.Fatal("a graph and faults")
	}
	for _, e := range list {
		if !e.Pos.Known() || e.Msg == "" {
			t.Fatalf("no place: %v\n%s", e, text)
		}
	}
	if g == nil {
		return
	}
	for _, n := range g.Nodes {
		for _, v := range n.Out {
			if v.Rank() > ops.MaxRank || v.Elements() < 1 || v.Elements() > ops.MaxElements {
				t.Fatalf("%s of shape %v\n%s", v.Name, v.Shape, text)
			}
		}
	}
}

// controlled has statements with blocks and lists, which are no call.
var controlled = []string{`int32 n, list<tensor<fp16, [2, 3]>, 2> l = while_loop(loop_vars = (int32(0),
		make_list(init_length = int32(2), elem_shape = (string("n"), int32(3)), dtype = string("fp16"))));
	tensor<fp16, [2, 3]> y = relu(x = x);`,
	`list<tensor<fp16, [?, 3]>, 2> e = make_list(init_length = int32(2), elem_shape = (string("n"), int32(3)), dtype = string("fp16"));
	int32 cnt, list<tensor<fp16, [?, 3]>, ?> l = while_loop(loop_vars = (int32(0), e))
		test(int32 k, list<tensor<fp16, [?, 3]>, 2> a) { bool more = less(x = k, y = int32(2)); } -> (more)
		body(int32 k, list<tensor<fp16, [?, 3]>, 2> a) {
			int32 next = add(x = k, y = int32(1));
			list<tensor<fp16, [2, 3]>, 2> b = list_write(ls = a, index = k, value = x);
		} -> (next, b);
	int32 long = list_length(ls = l);
	tensor<fp16, [2, 3]> first = list_read(ls = l, index = int32(0));
	tensor<fp16, [2, 2, 3]> all = list_gather(ls = l, indices = tensor<int32, [2]>([0, 1]));
	list<tensor<fp16, [2, 3]>, 2> m = list_scatter(ls = l, indices = tensor<int32, [2]>([0, 1]), value = all);
	bool some = greater(x = s, y = fp16(0));
	tensor<fp16, [2, 3]> y = cond(pred = some)
		yes() { tensor<fp16, [2, 3]> u = list_read(ls = m, index = int32(1)); } -> (u)
		no() {} -> (first);`}

func FuzzAnalyze(f *testing.F) {
	for _, body := range controlled {
		f.Add(around(body, "y"))
	}
	for _, call := range programs {
		f.Add(around("tensor<fp16, [2, 3]> y = "+call+";", "y"))
	}
	if golden, err := os.ReadFile("testdata/errors.txt"); err == nil {
		for line := range strings.Lines(string(golden)) {
			if !strings.HasPrefix(line, " ") {
				f.Add(around(line, "y"))
			}
		}
	}
	f.Fuzz(check)
}

// hostile are numbers at limits: they overflow, wrap around or are out of range.
var hostile = []int64{0, 1, -1, 2, -2, 3, 4, 5, -5, 7, 1 << 16, 1<<31 - 1, 1 << 31, -1 << 31, 1<<31 + 1, 1 << 32,
	1 << 53, 1<<53 + 1, 1 << 62, -1 << 62, math.MaxInt64, math.MinInt64, math.MinInt64 + 1}

// FuzzSettings replaces the numbers of a valid program by hostile ones: each byte of
// pick chooses the program or a number.
func FuzzSettings(f *testing.F) {
	for i := range programs {
		f.Add([]byte{byte(i), 0, 1, 2, 3, 4, 5, 6, 7})
		f.Add([]byte{byte(i), 20, 21, 12, 13, 255, 17})
	}
	f.Fuzz(func(t *testing.T, pick []byte) {
		if len(pick) > 0 {
			check(t, mutate(pick))
		}
	})
}

// mutate replaces the numbers in the lists and scalars of a call, int32 by
// int64; 255 leaves one as it is.
func mutate(pick []byte) string {
	call := programs[int(pick[0])%len(programs)]
	pick = pick[1:]
	var out strings.Builder
	dims := false // inside the shape of a type, which does not change
	for i := range len(call) {
		c := call[i]
		switch c {
		case '<':
			dims = true
		case '>':
			dims = false
		}
		digit := c >= '0' && c <= '9'
		inside := !dims && i > 0 && strings.ContainsRune("([ -", rune(call[i-1]))
		if !digit || !inside || len(pick) == 0 || strings.HasPrefix(call[i:], "0x") {
			out.WriteByte(c)
			continue
		}
		if p := pick[0]; p == 255 {
			out.WriteByte(c)
		} else if s := strings.TrimSuffix(out.String(), "-"); true {
			out.Reset()
			fmt.Fprintf(&out, "%s%d", s, hostile[int(p)%len(hostile)])
		}
		pick = pick[1:]
	}
	return around("tensor<fp16, [2, 3]> y = "+strings.ReplaceAll(out.String(), "int32", "int64")+";", "y")
}

// TestEveryProgramIsCovered checks that the seeds call every operator, and that
// Analyze accepts those whose declared type fits.
func TestEveryProgramIsCovered(t *testing.T) {
	all := strings.Join(programs, "\n")
	for _, name := range ops.Names() {
		d := ops.Lookup(name)
		if d != nil && d.Family < ops.Lists && !strings.Contains(all, name+"(") {
			require.Equal(t, ops.Unaries, d.Family, "no seed for %s", name)
			require.Len(t, d.Params, 1, "no seed for %s", name)
			check(t, around("tensor<fp16, [2, 3]> y = "+name+"(x = x);", "y"))
		}
	}
	_, list := analyze(t, around(controlled[1], "y"), nil)
	require.Empty(t, list, "%v", list)
	for i := range programs { // no fault but the declared type, or the number of results
		_, list := analyze(t, mutate([]byte{byte(i)}), nil)
		for _, e := range list {
			if programs[i][:4] != "frob" && !strings.Contains(e.Msg, "Expected") &&
				!strings.Contains(e.Msg, "results:") {
				t.Errorf("%s: %v", programs[i], e)
			}
		}
		for k := range hostile {
			for pos := range 8 {
				if pos != (i+k)%8 && !effort.Full() {
					continue
				}
				pick := []byte{byte(i), 255, 255, 255, 255, 255, 255, 255, 255}
				pick[1+pos] = byte(k)
				check(t, mutate(pick))
			}
		}
	}
}
