package ops_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/ops"
)

// call analyzes a function of one operation with any number of results, of declared types.
func call(t *testing.T, params, results, call string) (*ops.Node, []string, mil.ErrorList) {
	t.Helper()
	types := strings.Split(results, "; ")
	for i := range types {
		types[i] += fmt.Sprintf(" y%d", i)
	}
	g, list := analyze(t, "program(1.3)\n{\nfunc main<ios18>("+params+") {\n"+strings.Join(types, ", ")+" = "+call+
		";\n} -> (y0);\n}\n", nil)
	if len(list) > 0 {
		return nil, nil, list
	}
	return g.Nodes[0], g.Notes, nil
}

// letters replaces f[..], i[..] and c(..) in the tables below: an fp16 or int32 tensor type, and an int32 vector.
func letters(s string) string {
	s = tensors.ReplaceAllStringFunc(s, func(s string) string {
		d := map[byte]string{'f': "fp16", 'i': "int32"}[s[0]]
		return "tensor<" + d + ", " + s[1:] + ">"
	})
	return vectors.ReplaceAllStringFunc(s, func(s string) string {
		return fmt.Sprintf("tensor<int32, [%d]>([%s])", 1+strings.Count(s, ","), s[2:len(s)-1])
	})
}

var tensors, vectors = regexp.MustCompile(`\b[fi]\[[^]]*\]`), regexp.MustCompile(`\bc\([^)]*\)`)

// Shapes as coremltools documents them for the operators of MIL, or the fault of a call next to them.
func TestShapesOfResults(t *testing.T) {
	for _, c := range []struct{ params, call, want string }{
		{"f[2, 3, 4] x, i[5] at", "gather(x = x, indices = at, axis = int32(1))", "f[2, 5, 4]"},
		{"f[2, 3, 4] x, i[2, 5] at", "gather(x = x, indices = at, axis = int32(1), batch_dims = int32(1))",
			"f[2, 5, 4]"},
		{"f[2, 3, 4] x, i[2] at", "gather(x = x, indices = at, axis = int32(1), batch_dims = int32(1))", "f[2, 4]"},
		{"f[2, 3, 4] x, i[2, 3] at", "gather(x = x, indices = at, axis = int32(1), batch_dims = int32(2))",
			"!batch_dims"},
		{"f[3] x", "gather(x = x, indices = c(0, 2), validate_indices = bool(true))", "f[2]"},
		{"f[3] x", "gather(x = x, indices = c(3), validate_indices = bool(true))", "!indices"},
		{"f[3] x", "gather(x = x, indices = c(-1), validate_indices = bool(true))", "!indices"},
		{"f[2, 3, 4] x, i[5, 2] at", "gather_nd(x = x, indices = at)", "f[5, 4]"},
		{"f[2, 3, 4] x, i[5, 3] at", "gather_nd(x = x, indices = at)", "f[5]"},
		{"f[2, 3, 4] x, i[5, 4] at", "gather_nd(x = x, indices = at)", "!indices"},
		{"f[2, 3, 4] x, i[2, 5, 1] at", "gather_nd(x = x, indices = at, batch_dims = int32(1))", "f[2, 5, 4]"},
		{"f[2, 3, 4] x, i[2, 1] at", "gather_nd(x = x, indices = at, batch_dims = int32(1))", "f[2, 4]"},
		{"f[2, 3, 4] x, i[2, 3] at", "gather_nd(x = x, indices = at, batch_dims = int32(1))", "!indices"},
		{"f[2, 3, 4] x, i[2, 1] at", "gather_nd(x = x, indices = at, batch_dims = int32(2))", "!batch_dims"},
		{"f[2, 3, 4] x, i[2, 5, 4] at", "gather_along_axis(x = x, indices = at, axis = int32(1))", "f[2, 5, 4]"},
		{"f[2, 3, 4] x, i[2, 5, 3] at", "gather_along_axis(x = x, indices = at, axis = int32(1))", "!indices"},
		{"f[4, 3] x, i[2] at, f[4, 2] u", "scatter(data = x, indices = at, updates = u, axis = int32(1))", "f[4, 3]"},
		{"f[4, 3] x, i[2] at, f[2, 3] u", "scatter(data = x, indices = at, updates = u, axis = int32(0))", "f[4, 3]"},
		{"f[4, 3] x, i[2] at, f[2, 3] u", "scatter(data = x, indices = at, updates = u, axis = int32(1))", "!updates"},
		{"f[4, 3] x, i[2, 1] at, f[2, 3] u", "scatter_nd(data = x, indices = at, updates = u)", "f[4, 3]"},
		{"f[4, 3] x, i[2, 2] at, f[2] u", "scatter_nd(data = x, indices = at, updates = u)", "f[4, 3]"},
		{"f[4, 3] x, i[2, 3] at, f[2] u", "scatter_nd(data = x, indices = at, updates = u)", "!indices"},
		{"f[2, 9] x", "topk(x = x, k = int32(9))", "f[2, 9]; i[2, 9]"},
		{"f[2, 9] x", "topk(x = x, k = int32(1), axis = int32(0))", "f[1, 9]; i[1, 9]"},
		{"f[2, 9] x", "topk(x = x, k = int32(-1))", "f[2, 9]; i[2, 9]"},
		{"f[2, 9] x", "topk(x = x, k = int32(10))", "!k:"},
		{"f[2, 9] x", "topk(x = x, k = int32(0))", "!k:"},
		{"f[65537] x", `topk(x = x, output_indices_dtype = string("uint16"))`, "!output_indices_dtype"},
		{"f[2] x", "one_hot(indices = c(0, 1), one_hot_vector_size = int32(3), axis = int32(0), on_value = fp16(2))",
			"f[3, 2]"},
		{"f[2] x", "one_hot(indices = c(0, 1), one_hot_vector_size = int32(1), on_value = fp16(2))", "f[2, 1]"},
		{"f[2] x", "one_hot(indices = c(0, 1), one_hot_vector_size = int32(0))", "!one_hot_vector_size"},
		{"f[2, 3] x", "band_part(x = x)", "f[2, 3]"},
		{"f[3] x", "band_part(x = x)", "!x:"},
		{"f[2] x", "range_1d(start = fp16(1), end = fp16(8), step = fp16(2))", "f[4]"},
		{"f[2] x", "range_1d(start = fp16(1), end = fp16(7), step = fp16(2))", "f[3]"},
		{"f[2] x", "range_1d(start = fp16(9), end = fp16(7), step = fp16(-1))", "f[2]"},
		{"f[2] x", "range_1d(start = fp16(1), end = fp16(2), step = fp16(1))", "f[1]"},
		{"f[65536] x", `topk(x = x, output_indices_dtype = string("uint16"))`,
			"f[1]; tensor<uint16, [1]>"},
		{"f[2] x", "range_1d(start = fp16(1), end = fp16(1), step = fp16(1))", "!end"},

		{"f[2, 3] x, f[2, 4] y", "concat(values = (x, y), axis = int32(1), interleave = bool(false))", "f[2, 7]"},
		{"f[2, 3] x, f[2, 4] y", "concat(values = (x, y), axis = int32(0), interleave = bool(false))", "!values"},
		{"f[2, 3] x, f[2, 4] y", "concat(values = (x, y), axis = int32(1), interleave = bool(true))", "!values"},
		{"f[2, 6] x", "split(x = x, num_splits = int32(2), axis = int32(1))", "f[2, 3]; f[2, 3]"},
		{"f[2, 6] x", "split(x = x, num_splits = int32(1), axis = int32(1))", "f[2, 6]"},
		{"f[2, 6] x", "split(x = x, num_splits = int32(4), axis = int32(1))", "!num_splits"},
		{"f[2, 6] x", "split(x = x, split_sizes = c(1, 5), axis = int32(1))", "f[2, 1]; f[2, 5]"},
		{"f[2, 6] x", "split(x = x, split_sizes = c(6), axis = int32(1))", "f[2, 6]"},
		{"f[2, 6] x", "split(x = x, split_sizes = c(0, 6), axis = int32(1))", "!split_sizes"},
		{"f[2, 6] x", "split(x = x, split_sizes = c(2, 3), axis = int32(1))", "!split_sizes"},
		{"f[2, 6] x", "split(x = x, split_sizes = c(2, 4), num_splits = int32(3), axis = int32(1))", "!num_splits"},
		{"f[3, 4] x, f[3, 4] y", "stack(values = (x, y), axis = int32(1))", "f[3, 2, 4]"},
		{"f[3, 4] x, f[3, 4] y", "stack(values = (x, y), axis = int32(2))", "f[3, 4, 2]"},

		{"f[3] x, f[3] y", "matmul(x = x, y = y)", "fp16"},
		{"f[2, 3] x, f[3] y", "matmul(x = x, y = y)", "f[2]"},
		{"f[3] x, f[2, 3, 4] y", "matmul(x = x, y = y, transpose_x = bool(true))", "f[2, 4]"},
		{"f[2, 5, 3] x, f[2, 5, 4] y", "matmul(x = x, y = y, transpose_x = bool(true))", "f[2, 3, 4]"},
		{"f[2, 3, 5] x, f[2, 5, 4] y", "matmul(x = x, y = y, transpose_x = bool(true))", "!y:"},
		{"f[2, 6, 3] x, f[5, 3] w", "linear(x = x, weight = w)", "f[2, 6, 5]"},
		{"f[2, 3] x, f[5, 3] w, f[3] b", "linear(x = x, weight = w, bias = b)", "!bias"},

		{"f[2, 3] x", "tile(x = x, reps = c(2, 3))", "f[4, 9]"},
		{"f[2, 3] x", "tile(x = x, reps = c(1, 1))", "f[2, 3]"},
		{"f[2, 3] x", "tile(x = x, reps = c(0, 1))", "!reps"},
		{"f[2, 5, 6] x", "crop(x = x, crop_height = c(1, 3), crop_width = c(0, 2))", "f[2, 1, 4]"},
		{"f[2, 5, 6] x", "crop(x = x, crop_height = c(1, 4), crop_width = c(0, 2))", "!crop_height"},
		{"f[2, 5, 6] x", "crop(x = x, crop_height = c(-1, 4), crop_width = c(0, 2))", "!crop_height"},
		{"f[5, 6] x", "crop(x = x, crop_height = c(1, 3), crop_width = c(5, 0))", "f[1, 1]"},
		{"f[6] x", "crop(x = x, crop_height = c(1, 3), crop_width = c(5, 0))", "!x:"},
		{"f[7] x", "sliding_windows(x = x, axis = int32(0), size = int32(3), stride = int32(2))", "f[3, 3]"},
		{"f[8] x", "sliding_windows(x = x, axis = int32(0), size = int32(3), stride = int32(2))", "f[3, 3]"},
		{"f[2, 7] x", "sliding_windows(x = x, axis = int32(1), size = int32(7))", "f[2, 1, 7]"},
		{"f[2, 7] x", "sliding_windows(x = x, axis = int32(1), size = int32(8))", "!size"},
		{"f[2, 7] x", "sliding_windows(x = x, axis = int32(1), size = int32(0))", "!size"},
		{"f[2, 7] x", "sliding_windows(x = x, axis = int32(1), size = int32(2), stride = int32(0))", "!stride"},
		{"f[1, 6, 2, 3] x", "depth_to_space(x = x, block_size = int32(2))", "!block_size"},
		{"f[1, 6, 4, 3] x", "space_to_depth(x = x, block_size = int32(2))", "!block_size"},
		{"f[1, 6, 3, 4] x", "space_to_depth(x = x, block_size = int32(2))", "!block_size"},
		{"f[2, 3, 3, 4] x", "space_to_batch(x = x, block_shape = c(2, 4), paddings = tensor<int32, [2, 2]>([[1, 2], " +
			"[0, 4]]))", "f[16, 3, 3, 2]"},
		{"f[2, 3, 3, 4] x", "space_to_batch(x = x, block_shape = c(2, 4), paddings = tensor<int32, [2, 2]>([[1, 1], " +
			"[0, 4]]))", "!block_shape"},
		{"f[16, 3, 3, 2] x", "batch_to_space(x = x, block_shape = c(2, 4), crops = tensor<int32, [2, 2]>([[1, 2], " +
			"[0, 4]]))", "f[2, 3, 3, 4]"},
		{"f[16, 3, 3, 2] x", "batch_to_space(x = x, block_shape = c(2, 4), crops = tensor<int32, [2, 2]>([[2, 3], " +
			"[0, 7]]))", "f[2, 3, 1, 1]"},
		{"f[16, 3, 3, 2] x", "batch_to_space(x = x, block_shape = c(2, 4), crops = tensor<int32, [2, 2]>([[3, 3], " +
			"[0, 4]]))", "!crops"},
		{"f[12, 3, 3, 2] x", "batch_to_space(x = x, block_shape = c(2, 4), crops = tensor<int32, [2, 2]>([[0, 0], " +
			"[0, 0]]))", "!block_shape"},
		{"f[2, 3] x, i[3] n", "reverse_sequence(x = x, lengths = n, seq_axis = int32(0), batch_axis = int32(1))",
			"f[2, 3]"},
		{"f[2, 3] x, i[2] n", "reverse_sequence(x = x, lengths = n, seq_axis = int32(0), batch_axis = int32(1))",
			"!lengths"},

		{"f[2, 3, 4] x", "reshape(x = x, shape = c(-1, 6))", "f[4, 6]"},
		{"f[2, 3, 4] x", "reshape(x = x, shape = c(2, 0, -1))", "f[2, 3, 4]"},
		{"f[3, 4] x", "reshape(x = x, shape = c(0, 4, 3))", "f[1, 4, 3]"},
		{"f[3, 4] x", "reshape(x = x, shape = c(0, 0, 4))", "f[1, 3, 4]"},
		{"f[3, 4] x", "reshape(x = x, shape = c(-1, -1))", "!shape"},
		{"f[3, 4] x", "reshape(x = x, shape = c(1, 1, 1, 1, 1, 12))", "!shape"},
		{"f[2, 3, 4] x", "flatten2d(x = x, axis = int32(-3))", "f[1, 24]"},
		{"f[2, 3, 4] x", "flatten2d(x = x, axis = int32(-1))", "f[6, 4]"},
		{"f[2, 3, 4] x", "flatten2d(x = x, axis = int32(0))", "f[1, 24]"},
		{"f[2, 3, 4] x", "flatten2d(x = x, axis = int32(3))", "f[24, 1]"},
		{"f[2, 3, 4] x", "flatten2d(x = x, axis = int32(4))", "!axis"},
		{"f[2, 3, 4] x", "flatten2d(x = x, axis = int32(-4))", "!axis"},
		{"f[2, 3, 4] x", "transpose(x = x, perm = c(2, 0, -2))", "f[4, 2, 3]"},
		{"f[2, 3, 4] x", "transpose(x = x, perm = c(2, 0, -1))", "!perm"},
		{"f[2, 3] x", "expand_dims(x = x, axes = c(1, -1))", "f[2, 1, 3, 1]"},
		{"f[2, 1, 1, 3] x", "squeeze(x = x, axes = c(-2))", "f[2, 1, 3]"},
		{"f[2, 1, 1, 3] x", "squeeze(x = x)", "f[2, 3]"},
		{"f[2, 1, 1, 3] x", "squeeze(x = x, axes = c(0))", "!axes"},
		{"f[6, 4] x, f[2, 3, 4] r", "reshape_like(x = x, ref_tensors = (r, r), begins = (int32(0), int32(-1)), " +
			"ends = (int32(2), int32(0)), end_masks = (bool(false), bool(true)))", "f[2, 3, 4]"},

		{"f[3, 4] x", `pad(x = x, pad = c(2, 3), mode = string("reflect"))`, "f[3, 9]"},
		{"f[3, 4] x", `pad(x = x, pad = c(2, 4), mode = string("reflect"))`, "!pad"},
		{"f[3, 4] x", `pad(x = x, pad = c(2, 4), mode = string("replicate"))`, "f[3, 10]"},
		{"f[3, 4] x", `pad(x = x, pad = c(1, 2, 3, 4))`, "f[6, 11]"},
		{"f[3, 4] x", `pad(x = x, pad = c(1, -1))`, "!pad"},
		{"f[3, 4] x", `pad(x = x, pad = c(1, 2, 3))`, "!pad"},
		{"f[3, 4] x", `pad(x = x, pad = c(0, 0, 0, 0, 0, 0))`, "!pad"},
		{"f[3, 4] x", "slice_by_size(x = x, begin = c(-1, 1), size = c(1, -1))", "f[1, 3]"},
		{"f[3, 4] x", "slice_by_size(x = x, begin = c(0, 1), size = c(3, 3))", "f[3, 3]"},
		{"f[3, 4] x", "slice_by_size(x = x, begin = c(0, 1), size = c(3, 4))", "!size"},
		{"f[3, 4] x", "slice_by_size(x = x, begin = c(3, 1), size = c(1, 1))", "!begin"},
		{"f[3, 4] x", "slice_by_size(x = x, begin = c(-4, 1), size = c(1, 1))", "!begin"},
		{"f[3, 4] x, i[2] at", "slice_by_size(x = x, begin = at, size = c(3, 1))", "f[3, 1]"},
		{"f[3, 4] x, i[2] at", "slice_by_size(x = x, begin = at, size = c(4, 1))", "!size"},
		{"f[3, 4] x, i[2] at", "slice_by_size(x = x, begin = at, size = c(3, -1))", "!size"},

		{"f[5, 3, 7] x", "upsample_nearest_neighbor(x = x, scale_factor_height = fp32(1.5), scale_factor_width = " +
			"fp32(0.5))", "f[5, 4, 3]"},
		{"f[5, 3, 7] x", "upsample_nearest_neighbor(x = x, scale_factor_height = fp32(0.25))", "!scale_factor_height"},
		{"f[3, 7] x", "upsample_nearest_neighbor(x = x)", "!x:"},
		{"f[5, 3, 7] x", "resize_nearest_neighbor(x = x, target_size_height = int32(1), target_size_width = int32(9))",
			"f[5, 1, 9]"},
		{"f[5, 3, 7] x", "resize_nearest_neighbor(x = x, target_size_height = int32(0), target_size_width = int32(9))",
			"!target_size_height"},
		{"f[5, 3, 7] x", "resize(x = x, shape = c(4, 0, 1), resized_dims = uint32(2))", "f[5, 3, 1]"},
		{"f[5, 3, 7] x", "resize(x = x, shape = c(4, 0, 1), resized_dims = uint32(3))", "f[4, 3, 1]"},
		{"f[5, 3, 7] x", "resize(x = x, shape = c(4, 1), resized_dims = uint32(3))", "!resized_dims"},
		{"f[5, 3, 7] x", "resize(x = x, shape = c(1, 1, 4, 1), resized_dims = uint32(2))", "!shape"},
		{"f[2, 3, 8, 8] x, f[5, 1, 4, 1, 1] r", "crop_resize(x = x, roi = r, target_height = int32(6), " +
			"target_width = " +
			"int32(7))", "f[5, 2, 3, 6, 7]"},
		{"f[2, 3, 8, 8] x, f[5, 1, 5, 1, 1] r", "crop_resize(x = x, roi = r, target_height = int32(6), " +
			"target_width = " +
			"int32(7))", "f[5, 1, 3, 6, 7]"},
		{"f[2, 3, 8, 8] x, f[2, 4] r", "crop_resize(x = x, boxes = r, target_height = int32(6))", "f[2, 3, 6, 1]"},
		{"f[2, 3, 8, 8] x, f[3, 4] r", "crop_resize(x = x, boxes = r, target_height = int32(6))", "!boxes"},
		{"f[2, 3, 8, 8] x, f[3, 4] r", "crop_resize(x = x, boxes = r, box_indices = c(0, 1, 1))", "f[3, 3, 1, 1]"},
		{"f[2, 3, 8, 8] x, f[3, 4] r", "crop_resize(x = x, boxes = r, box_indices = c(0, 1, 2))", "!box_indices"},
		{"f[2, 3, 8, 8] x, f[3, 4] r", "crop_resize(x = x, boxes = r, box_indices = c(0, -1, 0))", "!box_indices"},

		{"f[7, 2, 3] x, f[2, 5] h, f[2, 5] m, f[20, 3] w, f[20, 5] r",
			"lstm(x = x, initial_h = h, initial_c = m, weight_ih = w, weight_hh = r)", "f[1, 2, 5]; f[2, 5]; f[2, 5]"},
		{"f[7, 2, 3] x, f[2, 5] h, f[2, 5] m, f[20, 3] w, f[20, 5] r, f[15] p",
			"lstm(x = x, initial_h = h, initial_c = " +
				"m, weight_ih = w, weight_hh = r, peephole = p, output_sequence = bool(true))",
			"f[7, 2, 5]; f[2, 5]; f[2, 5]"},
		{"f[7, 2, 3] x, f[2, 10] h, f[2, 10] m, f[20, 3] w, f[20, 5] r, f[20] b, f[15] p",
			"lstm(x = x, initial_h = h, " +
				"initial_c = m, weight_ih = w, weight_hh = r, weight_ih_back = w, weight_hh_back = r, bias = b, " +
				"bias_back = b, " +
				`peephole_back = p, direction = string("bidirectional"))`, "f[1, 2, 10]; f[2, 10]; f[2, 10]"},
		{"f[7, 2, 3] x, f[2, 5] h, f[15, 3] w, f[15, 5] r, f[15] b",
			"gru(x = x, initial_h = h, weight_ih = w, weight_hh = r, bias = b, input_bias = b)", "f[1, 2, 5]; f[2, 5]"},
		{"f[7, 2, 3] x, f[2, 5] h, f[15, 3] w, f[14, 5] r",
			"gru(x = x, initial_h = h, weight_ih = w, weight_hh = r)", "!weight_hh"},
		{"f[4, 3] x", "random_categorical(x = x, size = int32(6))", "f[4, 6]"},
		{"f[4, 3] x", "random_categorical(x = x, size = int32(0))", "!size"},
	} {
		params, statement := letters(c.params), letters(c.call)
		if fault, ok := strings.CutPrefix(c.want, "!"); ok {
			_, _, list := call(t, params, "tensor<fp16, [1]>", statement)
			require.ErrorContains(t, list, ": "+fault, c.call)
			continue
		}
		_, _, list := call(t, params, letters(c.want), statement)
		require.Empty(t, list, c.call)
	}
}

// A transposed convolution makes (in-1)*stride + reach elements less the padding, with pad_type same in*stride, and
// output_shape chooses among those of which the convolution makes x.
func TestTransposedConvolutions(t *testing.T) {
	same := func(kind string) string { return fmt.Sprintf(", pad_type = string(%q)", kind) }
	for name, c := range map[string]struct {
		in, kernel, out int
		settings        string
		before, after   int
	}{
		"stride":            {3, 2, 8, "", 0, 0},
		"custom":            {3, 4, 7, same("custom") + ", pad = " + ints(mil.Int32, 1, 2), 1, 2},
		"same":              {3, 6, 9, same("same"), 1, 2},
		"same_lower":        {3, 6, 9, same("same_lower"), 2, 1},
		"same, no padding":  {3, 2, 9, same("same"), 0, 0},
		"given":             {3, 4, 11, ", output_shape = " + ints(mil.Int32, 1, 6, 11), 0, 0},
		"given, same":       {3, 4, 11, same("same") + ", output_shape = " + ints(mil.Int32, 1, 6, 11), 0, 0},
		"given, one":        {1, 1, 1, ", output_shape = " + ints(mil.Int32, 1, 6, 1), 0, 0},
		"given, the kernel": {1, 4, 4, ", output_shape = " + ints(mil.Int32, 1, 6, 4), 0, 0},
	} {
		statement := "conv_transpose(x = x, weight = w, groups = int32(2), strides = int32(3)" + c.settings + ")"
		n, _, list := call(t, half(1, 4, c.in)+" x, "+half(4, 3, c.kernel)+" w", half(1, 6, c.out), statement)
		require.Empty(t, list, name)
		w := n.Attrs.(ops.Window)
		require.Equal(t, []int{c.before}, w.Before, name)
		require.Equal(t, []int{c.after}, w.After, name)
	}
	for _, out := range []int{9, 13} { // a convolution makes 2 and 4 elements of them
		_, _, list := call(t, half(1, 4, 3)+" x, "+half(4, 3, 4)+" w", half(1, 6, out),
			"conv_transpose(x = x, weight = w, "+
				"groups = int32(2), strides = int32(3), output_shape = "+ints(mil.Int32, 1, 6, out)+")")
		require.ErrorContains(t, list, "output_shape")
	}
}

// Each letter's strides are those of dense operands and of a dense result, 0 where an axis is absent or repeated.
func TestEinsumStrides(t *testing.T) {
	n, _, list := call(t, half(2, 3, 4)+" x, "+half(4, 3, 5)+" z", half(2, 3, 5),
		`einsum(values = (x, z), equation = string("abc, cbd -> abd"))`)
	require.Empty(t, list)
	require.Equal(t, ops.Einsum{Batch: []ops.Axis{{3, 4, 5, 5}}, M: []ops.Axis{{2, 12, 0, 15}},
		N: []ops.Axis{{5, 0, 1, 1}}, K: []ops.Axis{{4, 1, 15, 0}}}, n.Attrs)
	n, _, list = call(t, half(1, 2)+" x, "+half(3, 2)+" z", half(3), `einsum(values = (x, z), equation = `+
		`string("Az,Az->A"))`)
	require.Empty(t, list)
	require.Equal(t, ops.Einsum{Batch: []ops.Axis{{3, 0, 2, 1}}, K: []ops.Axis{{2, 1, 1, 0}}}, n.Attrs)
	for _, letters := range []string{"aZ", "zA"} {
		_, _, list = call(t, half(2, 3)+" x", half(2, 3), fmt.Sprintf(`einsum(values = (x, x), equation = string(%q))`,
			letters+","+letters+"->"+letters))
		require.Empty(t, list, letters)
	}
	for _, other := range "@[`{" {
		_, _, list = call(t, half(2, 3)+" x", half(2, 3), fmt.Sprintf(`einsum(values = (x, x), equation = string(%q))`,
			"a"+string(other)+",ab->a"))
		require.ErrorContains(t, list, "is not a letter")
	}
	for _, length := range []int{40, 41} {
		text := strings.Repeat("a", length)
		_, _, list = call(t, half(2, 3)+" x", half(2, 3), fmt.Sprintf(`einsum(values = (x, x), equation = string(%q))`,
			text))
		want := fmt.Sprintf("%q is not of the form", map[int]string{40: text, 41: text[:40] + ".."}[length])
		require.ErrorContains(t, list, want)
	}
}

// Only two equations are known to run on Apple's engine, with any letters.
func TestOtherEquationsAreNoted(t *testing.T) {
	for _, c := range []struct {
		x, y, out []int
		equation  string
		noted     bool
	}{
		{[]int{2, 3, 4, 5}, []int{2, 5, 4, 6}, []int{2, 3, 4, 6}, "nchw,nwhu->nchu", false},
		{[]int{2, 3, 4, 5}, []int{2, 5, 4, 6}, []int{2, 3, 4, 6}, "zyxw,zwxa->zyxa", false},
		{[]int{3, 4, 5}, []int{5, 4, 6}, []int{3, 4, 6}, "chw,whr->chr", false},
		{[]int{3, 4, 5}, []int{5, 4, 6}, []int{3, 6, 4}, "chw,whr->crh", true},
		{[]int{3, 4}, []int{4, 5}, []int{3, 5}, "ab,bc->ac", true},
	} {
		_, notes, list := call(t, half(c.x...)+" x, "+half(c.y...)+" z", half(c.out...),
			fmt.Sprintf("einsum(values = (x, z), equation = string(%q))", c.equation))
		require.Empty(t, list, c.equation)
		require.Equal(t, c.noted, strings.Contains(strings.Join(notes, "\n"), "chw,whr->chr"), c.equation)
	}
}

// Settings that a call leaves out: band_part keeps both triangles, and one_hot adds the last axis.
func TestDefaultsOfGenerators(t *testing.T) {
	n, _, list := call(t, half(2, 3)+" x", half(2, 3), "band_part(x = x)")
	require.Empty(t, list)
	band := n.Attrs.(ops.Band)
	require.Less(t, band.Lower, 0)
	require.Less(t, band.Upper, 0)
	n, _, list = call(t, mil.TensorOf(mil.Int32, 2, 3).String()+" at", mil.TensorOf(mil.Int32, 2, 3, 4).String(),
		"one_hot(indices = at, one_hot_vector_size = int32(4))")
	require.Empty(t, list)
	require.Equal(t, 2, n.Attrs.(ops.OneHot).Axis)
}

// elements returns the elements of x, by number, that a Box lists.
func elements(b ops.Box) []int {
	at := []int{b.Base}
	for i, n := range b.Dims {
		var next []int
		for _, a := range at {
			for k := range n {
				next = append(next, a+k*b.Stride[i])
			}
		}
		at = next
	}
	return at
}

// The elements that moves list, by the definitions of coremltools.
func TestMovedElements(t *testing.T) {
	box := func(x, out []int, statement string) []int {
		n, _, list := call(t, half(x...)+" x", half(out...), statement)
		require.Empty(t, list, statement)
		return elements(n.Attrs.(ops.Box))
	}
	require.Equal(t, []int{0, 1, 0, 1, 2, 3, 2, 3}, box([]int{2, 2}, []int{2, 4}, "tile(x = x, reps = "+
		ints(mil.Int32, 1, 2)+")"))
	require.Equal(t, []int{0, 1, 2, 2, 3, 4, 4, 5, 6}, box([]int{7}, []int{3, 3}, "sliding_windows(x = x, axis = "+
		"int32(0), size = int32(3), stride = int32(2))"))
	require.Equal(t, []int{5, 4, 3, 2, 1, 0}, box([]int{2, 3}, []int{2, 3}, "reverse(x = x)"))
	require.Equal(t, []int{2, 1, 0, 5, 4, 3}, box([]int{2, 3}, []int{2, 3}, "reverse(x = x, axes = "+
		ints(mil.Int32, -1)+")"))
	require.Equal(t, []int{6, 7, 11, 12}, box([]int{4, 5}, []int{2, 2}, "crop(x = x, crop_height = "+
		ints(mil.Int32, 1, 1)+", crop_width = "+ints(mil.Int32, 1, 2)+")"))

	const images, left, block, rows, columns = 2, 3, 2, 2, 5
	small := []int{images, left * block * block, rows, columns}
	large := []int{images, left, rows * block, columns * block}
	for name, channel := range map[string]func(ch, i, j int) int{ // of the small image
		"depth_to_space(x = x, block_size = int32(2))":        func(ch, i, j int) int { return (i*block+j)*left + ch },
		"pixel_shuffle(x = x, upscale_factor = int32(2))":     func(ch, i, j int) int { return (ch*block+i)*block + j },
		"space_to_depth(x = x, block_size = int32(2))":        func(ch, i, j int) int { return (i*block+j)*left + ch },
		"pixel_unshuffle(x = x, downscale_factor = int32(2))": func(ch, i, j int) int { return (ch*block+i)*block + j },
	} {
		toSpace, toDepth := make([]int, ops.Volume(large)), make([]int, ops.Volume(small))
		for n := range images {
			for ch := range left {
				for h := range rows * block {
					for w := range columns * block {
						s := ((n*small[1]+channel(ch, h%block, w%block))*rows+h/block)*columns + w/block
						l := ((n*left+ch)*rows*block+h)*columns*block + w
						toSpace[l], toDepth[s] = s, l
					}
				}
			}
		}
		if strings.Contains(name, "to_space") || strings.Contains(name, "_shuffle") {
			require.Equal(t, toSpace, box(small, large, name), name)
		} else {
			require.Equal(t, toDepth, box(large, small, name), name)
		}
	}
}

// Entries of several elements multiply their axis, and packed indexes take as many bits as the table needs.
func TestShapesOfPalettes(t *testing.T) {
	for _, c := range []struct{ results, call string }{
		{"tensor<fp16, [4, 1]>", "constexpr_lut_to_dense(indices = tensor<uint1, [2, 1]>([[1], [0]]), lut = " +
			"tensor<fp16, " +
			"[1, 1, 2, 2]>([[[[1, 2], [3, 4]]]]), vector_axis = int32(0))"},
		{"tensor<uint1, [4]>; tensor<fp16, [2]>", "constexpr_lut_to_sparse(indices_mask = tensor<uint1, [2]>([1, " +
			"0]), " +
			"indices_nonzero_data = tensor<uint1, [1]>([1]), lut = tensor<fp16, [1, 2, 2]>([[[1, 2], [3, 4]]]), " +
			"vector_axis = int32(0))"},
		{"tensor<fp16, [8]>", "constexpr_lut_to_dense(indices = tensor<uint8, [2]>([27, 1]), lut = tensor<fp16, [4]>" +
			"([1, 2, 3, 4]), shape = tensor<uint32, [1]>([8]))"},
		{"tensor<fp16, [1, 1, 1, 1, 9]>", "constexpr_lut_to_dense(indices = tensor<uint8, [2]>([27, 1]), lut = " +
			"tensor<fp16, [2]>([1, 2]), shape = tensor<uint32, [5]>([1, 1, 1, 1, 9]))"},
	} {
		last := c.results[strings.LastIndex(c.results, ";")+1:]
		types := strings.Split(c.results, "; ")
		for i := range types {
			types[i] += fmt.Sprintf(" y%d", i)
		}
		_, list := analyze(t, around(strings.Join(types, ", ")+" = "+c.call+";\n"+last+" z = identity(x = "+
			fmt.Sprintf("y%d", len(types)-1)+");", "z"), nil)
		require.Empty(t, list, c.call)
	}
}

// The rows of the result are the places of the elements that are not zero, in row-major order.
func TestPlacesOfNonZeroElements(t *testing.T) {
	n, _, list := call(t, half(1)+" x", mil.TensorOf(mil.Int32, 4, 2).String(),
		"non_zero(x = tensor<fp16, [2, 3]>([[0, 3, 1], [4, 0, -5]]))")
	require.Empty(t, list)
	require.Equal(t, []float64{0, 1, 0, 2, 1, 0, 1, 2}, n.Out[0].Floats())
}

// Comparisons of fp32 are noted, those of bool are not.
func TestComparisonsOfFP32AreNoted(t *testing.T) {
	const flag, single = "tensor<bool, [2]>", "tensor<fp32, [2]>"
	_, notes, list := call(t, single+" x", flag, "less(x = x, y = x)")
	require.Empty(t, list)
	require.Contains(t, strings.Join(notes, "\n"), "fp32 arithmetic")
	_, notes, list = call(t, flag+" x", flag, "logical_and(x = x, y = x)")
	require.Empty(t, list)
	require.NotContains(t, strings.Join(notes, "\n"), "arithmetic")
}

// Apple's compiler takes operands of matmul up to rank 4.
func TestMatmulOfRank5IsNoted(t *testing.T) {
	for rank, noted := range map[int]bool{4: false, 5: true} {
		shape := []int{2, 2, 2, 2, 2}[:rank]
		_, notes, list := call(t, half(shape...)+" x", half(shape...), "matmul(x = x, y = x)")
		require.Empty(t, list)
		require.Equal(t, noted, strings.Contains(strings.Join(notes, "\n"), "depth > 1"), rank)
	}
}
